// Lines of a text of which each goes with one of another text, which is read first.
#pragma once

#include <string>
#include <vector>

#include "cli/io/line_stream.h"

namespace tril::cli {

class MatchingLines {
 public:
  /// The arguments are those of LineStream.
  MatchingLines(const std::string& path, std::size_t capacity, const Passage& passage);

  /// As many as are asked for. @throws Error where there are fewer
  std::vector<std::string> next(std::size_t count);
  /// @throws Error where there are more
  void check_end();

 private:
  std::string path_;
  LineStream lines_;
  std::size_t read_ = 0;
};

}  // namespace tril::cli
