// Paths from the user that need not be files: standard output, a pipe, a device, or an open file of this process, as
// named by /dev/stdout, `<(command)` and `>(command)`. file.h is for paths that must be files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/file.h"

namespace tril {

/// The reader of a pipe has gone. A filter then ends without a message, as SIGPIPE would end it; a server goes on.
class ReaderGone : public Error {
 public:
  explicit ReaderGone(std::string where) : Error(ErrorKind::failure, std::move(where), "the reader has closed it") {}
};

/// The content of a file, a pipe or a device, of at most `limit` bytes; waits for a pipe's writer.
std::string read_any_text(const std::string& path, std::uint64_t limit);

/// True if output to `path` goes straight there: "-", a pipe, a device, an open file of this process, or a link to
/// one of them.
bool takes_a_stream(const std::string& path);

/// Output to a file that appears only when complete (AtomicFile), or to a stream that takes the bytes as they come. The temporary
/// file beside a file exists only from the first write on: a program that is killed before, while it works, leaves nothing.
class OutputFile {
 public:
  /// @param path  "-" is standard output. For a pipe, waits until somebody reads it.
  /// @throws Error if it cannot be written: now, not after the work
  explicit OutputFile(const std::string& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// @throws ReaderGone if it is a pipe that nobody reads any more
  void write(std::string_view text);
  /// After this a file is at its path. Call it once, last.
  void commit();

 private:
  AtomicFile& file();

  std::string path_;
  std::optional<AtomicFile> file_;  ///< from the first write to a file on
  int descriptor_ = -1;             ///< of a stream
  bool streams_ = false;
  std::uint64_t written_ = 0;
};

void write_output(const std::string& path, std::string_view text);

}  // namespace tril
