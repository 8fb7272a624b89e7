// Lines of a text file: plain or gzip (told by its first bytes), or standard input as "-". What is not text is an error
// that names the file, the line and the column.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tril {

struct ReadOptions {
  bool skip_invalid = false;  ///< report a line that is not UTF-8 as Line::invalid instead of throwing
  bool refuse_empty = false;  ///< a file without a single line is an error
  bool may_skip = true;       ///< the caller has a flag `skip_invalid`, which the error about such a line names
};

enum class Line { text, invalid, end };

class LineReader {
 public:
  /// Opens `path`; "-" is standard input, whose lines are handed out as they come.
  /// @throws Error for a file that is missing, unreadable, a directory, binary, or gzip by name only
  explicit LineReader(const std::string& path, const ReadOptions& options = {});
  ~LineReader();
  LineReader(LineReader&&) noexcept;
  LineReader& operator=(LineReader&&) noexcept;

  /// Reads the next line into `line`, without its "\n" or "\r\n" and without a byte order mark at the file's start.
  /// A line that is not UTF-8 (or holds a NUL) throws, or with skip_invalid leaves `line` empty and returns
  /// Line::invalid.
  /// @throws Error also for gzip data that is cut off or damaged, and for a line above 16 MiB
  Line next(std::string& line);

  /// Goes past up to `count` lines without checking them; returns how many there were.
  std::int64_t skip(std::int64_t count);

  /// A place between lines: bytes from the start of the text (unpacked, where it is gzip), and lines before it.
  struct Place {
    std::int64_t offset, lines;
  };
  std::int64_t offset() const;  ///< where the next line begins
  /// Goes to a place that offset() and line_number() told of: at once in a plain file, by reading on in gzip and pipes.
  /// @return false, and nothing happens, where it lies behind and the input cannot go back
  bool go_to(const Place& place);

  std::int64_t line_number() const;  ///< of the line read last, from 1; 0 before the first
  const std::string& name() const;   ///< the path, or "standard input"

 private:
  class State;
  std::unique_ptr<State> state_;
};

/// All lines of a file.
std::vector<std::string> read_lines(const std::string& path, const ReadOptions& options = {});

}  // namespace tril
