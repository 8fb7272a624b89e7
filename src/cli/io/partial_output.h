// The destination of results: a file, written atomically, or standard output, a pipe or a device, written as results
// come. If work is stopped, a file's beginning is left under another name.
#pragma once

#include <optional>
#include <string>

#include "base/streams.h"

namespace tril::cli {

/// @throws Error if results cannot be written there: call it before long work
void check_output(const std::string& path);

class PartialOutput {
 public:
  /// @param path  "-" is standard output
  explicit PartialOutput(const std::string& path);

  void write(const std::string& text);
  void commit();
  /// Keeps the results so far. @return the name of their file
  std::string leave();

 private:
  std::string path_;
  std::optional<AtomicFile> file_;
  std::optional<OutputFile> stream_;
};

}  // namespace tril::cli
