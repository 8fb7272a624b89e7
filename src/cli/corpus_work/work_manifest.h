// manifest.json: what processes that translate one text together must agree on.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "corpus/blocks.h"

namespace tril::cli {

struct WorkManifest {
  std::string input, output;  ///< paths; no output if the blocks are the result
  /// Names and values: of the options that affect the output, and hashes of the files that they name.
  std::vector<std::pair<std::string, std::string>> options, contents;
  std::vector<TextBlock> blocks;
  std::vector<TextBlock> prefixes;  ///< of --target-prefix, a block for each of the text's; else empty

  std::int64_t lines() const { return blocks.empty() ? 0 : blocks.back().first + blocks.back().lines; }
};

/// The path of a block's result, relative to the manifest.
std::string block_file(std::size_t block);

std::string to_json(const WorkManifest& m);
/// @throws Error for an invalid manifest
WorkManifest read_work_manifest(const std::string& path);

/// @throws Error naming what has changed since the work in `directory` began
void check_same_work(const WorkManifest& was, const WorkManifest& now, const std::string& directory);

}  // namespace tril::cli
