// Reads the lines of a text file: plain or gzip (by its first bytes), or standard input as "-". Errors about invalid
// text name the file, the line and the column.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tril {

struct ReadOptions {
  bool skip_invalid = false;  ///< report a line that is not UTF-8 as Line::invalid instead of an error
  bool refuse_empty = false;  ///< a file without lines is an error
  bool may_skip = true;       ///< the caller has an option `skip_invalid`, which errors mention
};

enum class Line { text, invalid, end };

class LineReader {
 public:
  /// Opens `path`; "-" is standard input, whose lines are returned as they arrive.
  /// @throws Error for a file that is missing, unreadable, a directory, binary, or gzip by name only
  explicit LineReader(const std::string& path, const ReadOptions& options = {});
  ~LineReader();
  LineReader(LineReader&&) noexcept;
  LineReader& operator=(LineReader&&) noexcept;

  /// Reads the next line into `line`, without its "\n" or "\r\n" and without a byte order mark at the file's start.
  /// A line that is not UTF-8 (or contains a NUL) is an error; with skip_invalid, `line` is empty and the result is
  /// Line::invalid.
  /// @throws Error also for truncated or damaged gzip data, and for a line above 16 MiB
  Line next(std::string& line);

  /// Skips up to `count` lines without checking them; returns how many there were.
  std::int64_t skip(std::int64_t count);

  /// A position between lines: bytes from the start of the (decompressed) text, and lines before it.
  struct Place {
    std::int64_t offset, lines;
  };
  std::int64_t offset() const;  ///< where the next line begins
  /// Goes to a place from offset() and line_number(): by seeking in a plain file, by reading on in gzip and pipes.
  /// @return false, without effect, if it lies before the current place and the input cannot seek
  bool go_to(const Place& place);

  std::int64_t line_number() const;  ///< of the last line read, from 1; 0 before the first
  const std::string& name() const;   ///< the path, or "standard input"

 private:
  class State;
  std::unique_ptr<State> state_;
};

/// All lines of a file.
std::vector<std::string> read_lines(const std::string& path, const ReadOptions& options = {});

}  // namespace tril
