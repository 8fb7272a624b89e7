// A text as blocks of so many lines: found once, with the byte where each begins, and read one by one in any order.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "corpus/reader.h"

namespace tril {

struct TextBlock {
  std::int64_t first = 0, lines = 0;  ///< lines counted from 0
  std::int64_t offset = 0;            ///< of its first byte in the text, unpacked where the file is gzip
  std::uint64_t hash = 0;             ///< of its lines
};

/// Reads the whole text once. @param stopped  asked between blocks; the list ends there
/// @throws Error for what is no text, unless the options skip it: better now than when all before it is done
std::vector<TextBlock> find_blocks(const std::string& path, std::int64_t lines_each, const ReadOptions& options,
                                   const std::function<bool()>& stopped);

/// Reads blocks: a plain file from the byte where they begin, gzip by reading on to there.
class BlockReader {
 public:
  BlockReader(std::string path, const ReadOptions& options) : path_(std::move(path)), options_(options) {}

  /// Its lines. @throws Error where they are not those that were found
  std::vector<std::string> read(const TextBlock& block);
  /// Lines so far that were not UTF-8.
  std::int64_t invalid() const { return invalid_; }

 private:
  std::string path_;
  ReadOptions options_;
  std::optional<LineReader> reader_;
  std::int64_t invalid_ = 0;
};

/// A file's size and some of its bytes, from 64 places of it: tells another file without reading all of a large one.
std::string file_fingerprint(const std::string& path);

}  // namespace tril
