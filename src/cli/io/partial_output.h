// Where results go: a file that comes into being whole, or standard output, a pipe or a device as they come. Of work that is
// stopped the file's beginning is left beside it.
#pragma once

#include <optional>
#include <string>

#include "base/streams.h"

namespace tril::cli {

/// @throws Error where results could not go there: to be asked before anything long is begun
void check_output(const std::string& path);

class PartialOutput {
 public:
  /// @param path  "-" is standard output
  explicit PartialOutput(const std::string& path);

  void write(const std::string& text);
  void commit();
  /// What there is stays, under the name that is returned.
  std::string leave();

 private:
  std::string path_;
  std::optional<AtomicFile> file_;
  std::optional<OutputFile> stream_;
};

}  // namespace tril::cli
