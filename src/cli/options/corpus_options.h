// How a text is shared out among processes: by hand, a shard for each, or by a directory in which they work together.
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

/// The directory to work in: --work-dir, or OUTPUT.work where a launcher started several; none where this process
/// translates alone.
/// @param beside  a text of which each line goes with one of the input, or none
/// @throws Error(usage) where input and output are not what processes can share
std::optional<std::string> work_directory(const CorpusOptions& o, const dist::Launch& ranks, const std::string& input,
                                          const std::optional<std::string>& beside, const std::string& output);

/// The lines of --shard, all without it.
Passage passage_of(const CorpusOptions& o, const std::string& input, const std::optional<std::string>& beside);

}  // namespace tril::cli
