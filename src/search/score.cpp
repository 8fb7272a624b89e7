#include "search/score.h"

#include "search/session.h"

namespace tril::search {

std::vector<Score> score(Context& c, const model::Model& model, std::span<const std::vector<std::int32_t>> sources,
                         std::span<const std::vector<std::int32_t>> targets, std::int32_t start_id) {
  check(sources.size() == targets.size(), "score", "{} sources for {} targets", sources.size(), targets.size());
  std::vector<Score> scores(targets.size());
  if (targets.empty()) return scores;

  // The decoder sees each target shifted right by one, behind the start token.
  Rows rows;
  std::vector<std::int32_t> ids, expected;
  for (const auto& target : targets) {
    rows.append(static_cast<std::int32_t>(target.size()));
    for (std::size_t i = 0; i < target.size(); ++i) ids.push_back(i == 0 ? start_id : target[i - 1]);
    expected.insert(expected.end(), target.begin(), target.end());
  }
  if (ids.empty()) return scores;

  const model::Memory memory = encode(c, model, sources);
  const Tensor hidden =
      model.decode(c, {.ids = ids, .rows = rows, .memory = &memory, .memory_rows = {}, .cache = nullptr});
  const model::OutputProjection output = model.output();
  const std::vector<float> log_probs =
      host_copy<float>(ops::target_log_probs(c, hidden, output.weight, output.bias, c.upload(expected)));

  for (std::size_t i = 0; i < targets.size(); ++i) {
    const auto row = static_cast<std::int64_t>(i);
    scores[i].token_log_probs.assign(log_probs.begin() + rows.begin(row), log_probs.begin() + rows.end(row));
    for (float p : scores[i].token_log_probs) scores[i].log_prob += static_cast<double>(p);
  }
  return scores;
}

std::vector<Score> score_all(WorkerPool& workers, const model::Model& model,
                             std::span<const std::vector<std::int32_t>> sources,
                             std::span<const std::vector<std::int32_t>> targets, std::int64_t batch_size) {
  check(sources.size() == targets.size(), "score", "{} sources for {} targets", sources.size(), targets.size());
  check(batch_size >= 1, "score", "{} pairs in a batch, expected at least 1", batch_size);
  std::vector<std::size_t> lengths;
  for (const auto& target : targets) lengths.push_back(target.size());
  const auto jobs = jobs_by_length(lengths, static_cast<std::size_t>(batch_size));
  const std::int32_t start = model.special_ids().decoder_start;

  std::vector<Score> scores(targets.size());
  workers.run(jobs.size(), [&](Context& c, int, std::size_t job) {
    std::vector<std::vector<std::int32_t>> job_sources, job_targets;
    for (std::size_t i : jobs[job]) job_sources.push_back(sources[i]), job_targets.push_back(targets[i]);
    std::vector<Score> found = score(c, model, job_sources, job_targets, start);
    for (std::size_t i = 0; i < found.size(); ++i) scores[jobs[job][i]] = std::move(found[i]);
  });
  return scores;
}

}  // namespace tril::search
