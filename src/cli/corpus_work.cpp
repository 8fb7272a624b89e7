#include "cli/corpus_work.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "base/file.h"
#include "base/progress.h"

namespace tril::cli {
namespace {

// How far all are, as this process sees it: by the blocks' files, which it looks at now and then, and its own lines.
class Together {
 public:
  Together(WorkDirectory& directory, bool shown)
      : directory_(directory),
        shown_(shown),
        done_(shown ? directory.lines_done() : 0),
        line_({.label = "line",
               .rate_unit = "lines",
               .total = directory.manifest().lines(),
               .first = done_,
               .enabled = shown,
               .seconds = {},
               .write = {}}) {}

  void update(std::int64_t lines_of_block) {
    if (!shown_) return;
    if (lines_of_block == 0) done_ = directory_.lines_done();
    line_.update(std::min(done_ + lines_of_block, directory_.manifest().lines()));
  }

 private:
  WorkDirectory& directory_;
  bool shown_;
  std::int64_t done_;
  Progress line_;
};

std::vector<std::string> part(const std::vector<std::string>& lines, std::size_t from, std::size_t count) {
  if (lines.empty()) return {};
  const auto begin = lines.begin() + static_cast<std::ptrdiff_t>(from);
  return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

}  // namespace

CorpusResult work_on_corpus(const CorpusWork& work, const StopSignal& stop) {
  WorkDirectory directory(work.plan, stop.token());
  const WorkManifest& manifest = directory.manifest();
  BlockReader texts(work.plan.input, {.skip_invalid = work.plan.skip_invalid, .refuse_empty = false});
  std::optional<BlockReader> beginnings;
  if (work.plan.target_prefix) beginnings.emplace(*work.plan.target_prefix, ReadOptions{.refuse_empty = false});
  Together together(directory, work.progress);
  std::int64_t blocks = 0;
  // Declared within the loop's condition, so that a claim ends before the next is made.
  while (const auto claim = directory.claim(stop.token())) {
    const TextBlock& block = manifest.blocks[claim->block];
    const std::vector<std::string> lines = texts.read(block);
    const std::vector<std::string> prefixes =
        beginnings ? beginnings->read(manifest.prefixes[claim->block]) : std::vector<std::string>{};
    AtomicFile file(directory.path_of(claim->block));
    for (std::size_t at = 0; at < lines.size() && !stop.came(); at += work.window) {
      together.update(static_cast<std::int64_t>(at));
      const std::size_t count = std::min(work.window, lines.size() - at);
      file.write(work.translate(part(lines, at, count), part(prefixes, at, count),
                                block.first + static_cast<std::int64_t>(at)));
    }
    if (stop.came()) break;  // the block is given back: what there is of it goes with the file beside
    file.commit();
    ++blocks;
  }
  CorpusResult result{.complete = !stop.came() && directory.assemble(stop.token()), .invalid = texts.invalid()};
  if (result.complete) {
    directory.leave(work.ranks);
    spdlog::info("blocks: {}, of which this process did {}", format_count(std::ssize(manifest.blocks)),
                 format_count(blocks));
  } else {
    spdlog::warn("stopped; blocks in {}: {} of {}; the same command goes on from there", work.plan.directory,
                 format_count(directory.blocks_done()), format_count(std::ssize(manifest.blocks)));
  }
  return result;
}

}  // namespace tril::cli
