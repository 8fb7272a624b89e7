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

}  // namespace tril::search
