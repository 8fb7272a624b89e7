// How far a download is: a line on the terminal, or a line of JSON a second on standard output.
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
  std::optional<Progress> line_;  // from the first call, which says where it starts
  double start_, last_json_;
};

}  // namespace tril::cli
