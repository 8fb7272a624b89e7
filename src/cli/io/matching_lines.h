// Lines of a text that correspond to the lines of another text, which is read first.
#pragma once

#include <string>
#include <vector>

#include "cli/io/line_stream.h"

namespace tril::cli {

class MatchingLines {
 public:
  /// Arguments as for LineStream.
  MatchingLines(const std::string& path, std::size_t capacity, const Passage& passage);

  /// @return exactly `count` lines. @throws Error if there are fewer
  std::vector<std::string> next(std::size_t count);
  /// @throws Error if there are more lines
  void check_end();

 private:
  std::string path_;
  LineStream lines_;
  std::size_t read_ = 0;
};

}  // namespace tril::cli
