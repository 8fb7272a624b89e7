// What a person names to be read or written, which need not be a file: standard output, a pipe, a device, or one of the
// process's open files, as /dev/stdout, `<(command)` and `>(command)` name them. file.h is for what must be files.
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

/// The whole of a file, a pipe or a device, of at most `limit` bytes; a pipe's writer is waited for.
std::string read_any_text(const std::string& path, std::uint64_t limit);

/// Whether what is written at `path` goes straight there: "-", a pipe, a device, an open file of this process, or a link to
/// one of them.
bool takes_a_stream(const std::string& path);

/// A file that comes into being whole (AtomicFile), or a stream that takes the bytes as they come.
class OutputFile {
 public:
  /// @param path  "-" is standard output. A pipe is waited for until somebody reads it.
  /// @throws Error where it cannot be written: now, not once the work is done
  explicit OutputFile(const std::string& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// @throws ReaderGone where it is a pipe that nobody reads any more
  void write(std::string_view text);
  /// A file is at its path after this. Called once, last.
  void commit();

 private:
  std::string path_;
  std::optional<AtomicFile> file_;
  int descriptor_ = -1;  ///< of a stream
  std::uint64_t written_ = 0;
};

void write_output(const std::string& path, std::string_view text);

}  // namespace tril
