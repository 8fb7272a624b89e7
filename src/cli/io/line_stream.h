// Lines of a file or of standard input, read ahead by another thread and returned in windows: a file gives full
// windows, while interactive or piped lines are returned as soon as the writer pauses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "corpus/reader.h"

namespace tril::cli {

/// A range of lines of a text: the first, counted from 0, and their number.
struct Passage {
  std::int64_t first = 0, count = std::numeric_limits<std::int64_t>::max();
};

class LineStream {
 public:
  /// @param path      "-" is standard input
  /// @param capacity  lines to read ahead
  /// @param options   with skip_invalid, a line that is not UTF-8 is returned as an empty one
  /// @param passage   other lines are skipped unchecked
  LineStream(const std::string& path, std::size_t capacity, const ReadOptions& options, const Passage& passage = {});
  ~LineStream();
  LineStream(const LineStream&) = delete;
  LineStream& operator=(const LineStream&) = delete;

  /// The next lines, at most `most`, and at least one unless the text has ended: waits for the first, then for others
  /// while they keep coming. An error in the text is thrown after the lines before it have been returned. If `stop` is
  /// requested, returns the lines so far, or none.
  std::vector<std::string> next(std::size_t most, const std::stop_token& stop = {});
  /// Lines so far that were not UTF-8.
  std::int64_t invalid() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace tril::cli
