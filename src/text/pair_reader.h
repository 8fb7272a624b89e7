// Pairs of lines from two aligned files, or from two columns of a tab-separated one; several such files in a row.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "text/corpus.h"
#include "text/reader.h"

namespace tril {

struct PairText {
  std::string source, target;
  bool valid = true;  ///< false: a side is not UTF-8 (met only with skip_invalid)
};

class PairReader {
 public:
  explicit PairReader(const CorpusOptions& options) : options_(options) {}

  /// Reads the next pair; false at the end of the last file.
  /// @throws Error where one file of a pair ends before the other, naming both counts
  bool next(PairText& pair);

  /// Goes past up to `count` pairs.
  void skip(std::int64_t count);

  std::int64_t position() const { return position_; }  ///< pairs read and skipped

 private:
  bool open();  ///< makes sure that a file is open; false behind the last
  void close();
  [[noreturn]] void fail_unequal();
  void take_columns(PairText& pair);

  const CorpusOptions& options_;
  std::size_t file_ = 0;
  std::optional<LineReader> source_, target_;  ///< target_ stays closed for tab-separated files
  std::string line_;
  std::int64_t position_ = 0;
};

}  // namespace tril
