// The destination of results: a file, written atomically, or standard output, a pipe or a device, written as results
// come. If work is stopped, a file's beginning is left under another name.
#pragma once

#include <optional>
#include <stop_token>
#include <string>

#include "base/streams.h"

namespace tril::cli {

/// @throws Error if results cannot be written there: call it before long work
void check_output(const std::string& path);

/// Waits until somebody reads a pipe (FIFO), or stop is requested: an open() that waits could not be interrupted. Holds the pipe
/// open, so that its reader sees no end before it is opened again. Does nothing if the path is no pipe.
class AwaitedReader {
 public:
  AwaitedReader(const std::string& path, const std::stop_token& stop);
  ~AwaitedReader();
  AwaitedReader(const AwaitedReader&) = delete;
  AwaitedReader& operator=(const AwaitedReader&) = delete;

  bool is_there() const { return descriptor_ >= 0; }

 private:
  int descriptor_ = -1;
};

class PartialOutput {
 public:
  /// @param path  "-" is standard output. For a pipe (FIFO), waits until somebody reads it, or stop is requested
  explicit PartialOutput(const std::string& path, const std::stop_token& stop = {});

  /// Not after a stop that ended the wait for a pipe's reader.
  void write(const std::string& text);
  /// After this a file is at its path. If several processes write it, the last one to commit does.
  void commit();
  /// Keeps the results so far. @return the name of their file
  std::string leave();

 private:
  std::string path_;
  std::optional<AtomicFile> file_;
  std::optional<OutputFile> stream_;
};

}  // namespace tril::cli
