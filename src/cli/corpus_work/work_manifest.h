// What processes that translate one text together must agree on: manifest.json of their directory.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "corpus/blocks.h"

namespace tril::cli {

struct WorkManifest {
  std::string input, output;  ///< paths; no output where the blocks are the result
  /// Names and values: of the options that decide the output, and of what the files hold that they name.
  std::vector<std::pair<std::string, std::string>> options, contents;
  std::vector<TextBlock> blocks;
  std::vector<TextBlock> prefixes;  ///< of --target-prefix, a block for each of the text's; else none

  std::int64_t lines() const { return blocks.empty() ? 0 : blocks.back().first + blocks.back().lines; }
};

/// A block's result, beside the manifest.
std::string block_file(std::size_t block);

std::string to_json(const WorkManifest& m);
/// @throws Error for a file that is no such manifest
WorkManifest read_work_manifest(const std::string& path);

/// @throws Error that says what is not as it was when the work in `directory` began
void check_same_work(const WorkManifest& was, const WorkManifest& now, const std::string& directory);

}  // namespace tril::cli
