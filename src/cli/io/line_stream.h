// Lines of a file or of standard input, read ahead by another thread, handed out in windows: a file comes in full
// windows, a person's or a pipe's lines come as soon as the writer pauses.
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

/// Which lines of a text: so many from this one on, counted from 0.
struct Passage {
  std::int64_t first = 0, count = std::numeric_limits<std::int64_t>::max();
};

class LineStream {
 public:
  /// @param path      "-" is standard input
  /// @param capacity  lines that may be read ahead
  /// @param options   with skip_invalid, a line that is not UTF-8 comes as an empty one
  /// @param passage   the other lines are passed over, unchecked
  LineStream(const std::string& path, std::size_t capacity, const ReadOptions& options, const Passage& passage = {});
  ~LineStream();
  LineStream(const LineStream&) = delete;
  LineStream& operator=(const LineStream&) = delete;

  /// The next lines, at most `most`, at least one unless the text is at its end: waits for the first, and then for
  /// others as long as they keep coming. An error in the text is thrown once the lines before it have been handed out.
  /// Once `stop` asks for it, what there is, or nothing.
  std::vector<std::string> next(std::size_t most, const std::stop_token& stop = {});
  /// Lines so far that were not UTF-8.
  std::int64_t invalid() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace tril::cli
