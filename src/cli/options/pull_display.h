// Shows a download's progress: a line on the terminal, or one line of JSON each second on standard output.
#pragma once

#include <optional>
#include <string>

#include "base/progress.h"
#include "hub/pull.h"

namespace tril::cli {

struct PullDisplayOptions {
  bool json = false;
  bool quiet = false;  ///< no line on the terminal
};

class PullDisplay {
 public:
  PullDisplay(std::string model, const PullDisplayOptions& options);

  void show(const hub::PullProgress& p);
  void finish() { line_.reset(); }

 private:
  void show_json(const hub::PullProgress& p);

  std::string model_;
  PullDisplayOptions options_;
  std::optional<Progress> line_;  // made by the first call, which says where the download starts
  double start_, last_json_;
};

}  // namespace tril::cli
