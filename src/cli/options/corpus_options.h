// How a text is divided among processes: manually by shards, or by a directory in which they work together.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/fields.h"
#include "cli/io/line_stream.h"
#include "dist/launch.h"

namespace tril::cli {

struct CorpusOptions {
  std::optional<std::string> shard, work_dir;
  std::optional<std::int64_t> block_lines;
  bool keep_blocks = false;
};

/// --shard, --work-dir, --block-lines, --keep-blocks.
void add_corpus_fields(Fields& f, CorpusOptions& o);

/// The shared directory: --work-dir, or OUTPUT.work if a launcher started several processes; none if this process
/// translates alone.
/// @param beside  a text whose lines correspond to those of the input, or none
/// @throws Error(usage) if processes cannot share the input and output
std::optional<std::string> work_directory(const CorpusOptions& o, const dist::Launch& ranks, const std::string& input,
                                          const std::optional<std::string>& beside, const std::string& output);

/// The lines of --shard; all lines without it.
Passage passage_of(const CorpusOptions& o, const std::string& input, const std::optional<std::string>& beside);

}  // namespace tril::cli
