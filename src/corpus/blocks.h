// A text as blocks of a fixed number of lines: each block's first byte is found once, then blocks are read in any order.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "corpus/reader.h"

namespace tril {

struct TextBlock {
  std::int64_t first = 0, lines = 0;  ///< counted from 0
  std::int64_t offset = 0;            ///< of its first byte in the (decompressed) text
  std::uint64_t hash = 0;             ///< of its lines
};

/// Reads the whole text once. @param stopped  polled between blocks; ends the list early
/// @throws Error for an invalid line, unless the options skip it: before any work is done
std::vector<TextBlock> find_blocks(const std::string& path, std::int64_t lines_each, const ReadOptions& options,
                                   const std::function<bool()>& stopped);

/// Reads blocks: seeks in a plain file, reads forward in gzip.
class BlockReader {
 public:
  BlockReader(std::string path, const ReadOptions& options) : path_(std::move(path)), options_(options) {}

  /// The block's lines. @throws Error if they have changed since find_blocks()
  std::vector<std::string> read(const TextBlock& block);
  /// The number of lines read so far that were not valid UTF-8.
  std::int64_t invalid() const { return invalid_; }

 private:
  std::string path_;
  ReadOptions options_;
  std::optional<LineReader> reader_;
  std::int64_t invalid_ = 0;
};

/// A file's size and some of its bytes from 64 places: detects a different file without reading all of a large one.
std::string file_fingerprint(const std::string& path);

}  // namespace tril
