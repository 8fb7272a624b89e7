#include "cli/corpus_work/corpus_work.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "base/error.h"
#include "base/file.h"
#include "base/progress.h"

namespace tril::cli {
namespace {

// Progress over all processes as seen from this one: from the blocks' files, checked now and then, and its own lines.
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

// Reads and writes blocks in this process.
class Worker {
 public:
  Worker(const CorpusWork& work, WorkDirectory& directory, const StopSignal& stop)
      : work_(work),
        directory_(directory),
        stop_(stop),
        texts_(work.plan.input, {.skip_invalid = work.plan.skip_invalid, .refuse_empty = false}),
        together_(directory, work.progress) {
    if (work.plan.target_prefix) beginnings_.emplace(*work.plan.target_prefix, ReadOptions{.refuse_empty = false});
  }

  /// Writes a block's result to its place; false if the program is to stop first.
  bool write(std::size_t number) {
    const TextBlock& block = directory_.manifest().blocks[number];
    const std::vector<std::string> lines = texts_.read(block);
    const std::vector<std::string> prefixes =
        beginnings_ ? beginnings_->read(directory_.manifest().prefixes[number]) : std::vector<std::string>{};
    AtomicFile file(directory_.path_of(number));
    std::int64_t done = 0;
    for (std::size_t at = 0; at < lines.size() && !stop_.came(); at += work_.window) {
      together_.update(done);
      const std::vector<std::string> texts = part(lines, at, std::min(work_.window, lines.size() - at));
      file.write(work_.translate(texts, part(prefixes, at, texts.size()), block.first + done));
      done += std::ssize(texts);
    }
    if (stop_.came()) return false;  // the finished part of the block is discarded with the temporary file
    file.commit();
    return true;
  }
  std::int64_t invalid() const { return texts_.invalid(); }

 private:
  const CorpusWork& work_;
  WorkDirectory& directory_;
  const StopSignal& stop_;
  BlockReader texts_;
  std::optional<BlockReader> beginnings_;
  Together together_;
};

}  // namespace

CorpusResult work_on_corpus(const CorpusWork& work, const StopSignal& stop) {
  WorkDirectory directory(work.plan, stop.token());
  const std::int64_t all = std::ssize(directory.manifest().blocks);
  std::int64_t blocks = 0;
  CorpusResult result;
  {
    Worker worker(work, directory, stop);
    // Declared in the loop's condition, so that a claim ends before the next is made.
    while (const auto claim = directory.claim(stop.token())) {
      try {
        if (!worker.write(claim->block)) break;
        ++blocks;
      } catch (const Error&) {
        // A machine that lost its connection to a shared file system has lost the lock: by now another may have done
        // the block and assembled the output.
        if (!directory.is_done(claim->block)) throw;
      }
    }
    result.invalid = worker.invalid();
  }
  result.complete = !stop.came() && directory.assemble(stop.token());
  if (result.complete) {
    directory.leave(work.ranks);
    spdlog::info("blocks: {}, of which this process translated {}", format_count(all), format_count(blocks));
  } else {
    spdlog::warn("stopped; blocks in {}: {} of {}; the same command resumes from there", work.plan.directory,
                 format_count(directory.blocks_done()), format_count(all));
  }
  return result;
}

}  // namespace tril::cli
