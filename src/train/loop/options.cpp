#include "train/loop/options.h"

#include <algorithm>

#include "base/cores.h"
#include "model/spec/model.h"
#include "train/families/new_family.h"

namespace tril::train {

std::size_t corpus_count(const DataOptions& d) {
  return d.train_sets.size() / (d.tsv ? 1 : 2);
}

bool is_language_model(const ModelOptions& m) {
  return !new_family(m.arch).encoder_decoder;
}

bool is_linear(const ModelOptions& m) {
  return m.arch == "linear_decoder";
}

nn::AttentionHeads guided_heads(const LearningOptions& l, const ModelOptions& m) {
  nn::AttentionHeads heads;
  heads.layer = m.dec_depth - 1;
  if (l.guided_alignment_layer != last_layer) {
    heads.layer = l.guided_alignment_layer - 1;
    check(heads.layer < m.dec_depth, "guided_alignment_layer", "expected last or a number from 1 to {}, got {}",
          m.dec_depth, l.guided_alignment_layer);
  }
  check(l.guided_alignment_heads <= m.num_heads, "guided_alignment_heads", "{} of {} heads", l.guided_alignment_heads,
        m.num_heads);
  const std::int64_t count = l.guided_alignment_heads > 0 ? l.guided_alignment_heads : m.num_heads;
  for (std::int64_t h = 0; h < count; ++h) heads.heads.push_back(static_cast<std::int32_t>(h));
  return heads;
}

Metric deciding_metric(const ValidationOptions& v) {
  return v.valid_metrics.empty() ? Metric::loss : v.valid_metrics[0];
}

int worker_threads(const RunOptions& run) {
  const int wanted = thread_count(run.threads, run.placement);
  return run.deterministic ? std::min(wanted, deterministic_parts) : wanted;
}

Placement worker_placement(const RunOptions& run, Numa numa) {
  PlacementOptions o = run.placement;
  o.numa = numa;
  return placement_of(o, worker_threads(run));
}

void share_cores(RunOptions& run, const dist::Ranks& ranks) {
  if (ranks.size() == 1) return;
  if (run.threads == 0)
    run.threads = lists_cores(run.placement) ? std::max(1, thread_count(0, run.placement) / ranks.sharers())
                                             : ranks.share_of_cores();
  run.placement.before = ranks.sharers_before() * worker_threads(run);
}

int batch_parts(const RunOptions& run) {
  return run.deterministic ? deterministic_parts : worker_threads(run);
}

}  // namespace tril::train
