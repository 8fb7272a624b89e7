#include "cli/corpus_work/align_progress.h"

#include <spdlog/spdlog.h>

#include <mutex>

#include "align/align_corpus.h"
#include "base/error.h"
#include "base/number_text.h"
#include "base/progress.h"

namespace tril::cli {

void learn_alignments(const AlignmentTask& task, const std::stop_token& stop) {
  const std::vector<std::string>& files = task.files;
  ProgressOptions line;
  line.label = "iteration";
  const bool one_way =
      task.options.symmetrization == Symmetrization::forward || task.options.symmetrization == Symmetrization::backward;
  line.total = std::int64_t{task.options.iterations} * (one_way ? 1 : 2);
  line.enabled = !task.quiet;
  Progress progress(line);
  std::mutex one_at_a_time;
  std::int64_t done = 0;
  const AlignmentCounts counts = align_corpus(task.corpus, files, task.options, task.tokenizer, [&] {
    if (stop.stop_requested()) fail(files[0], "stopped while learning alignments; nothing is written");
    const std::lock_guard lock(one_at_a_time);
    progress.update(++done);
  });
  progress.finish();
  if (counts.too_long > 0)
    spdlog::warn("{} more than {} words on a side and {} no alignment; the first is {}",
                 counted(format_count(counts.too_long), "pair has", "pairs have"),
                 format_count(ParallelWords::most_words), counts.too_long == 1 ? "gets" : "get", counts.first_too_long);
  if (counts.invalid > 0)
    spdlog::warn("{} no alignment; the first is {}",
                 counted(format_count(counts.invalid), "pair is not UTF-8 and gets", "pairs are not UTF-8 and get"),
                 counts.first_invalid);
  spdlog::info("{}{}: {} of words aligned in {} of lines", files[0],
               files.size() > 1 ? fmt::format(" to {}", files.back()) : "",
               counted(format_count(counts.points), "pair"), counted(format_count(counts.pairs), "pair"));
}

}  // namespace tril::cli
