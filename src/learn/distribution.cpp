#include "learn/distribution.h"

#include "base/as_size.h"
#include "search/processors.h"
#include "search/warpers.h"

namespace tril::learn {

std::vector<double> penalised(std::span<const double> logits, std::int32_t written, double penalty) {
  Arena arena;
  Context c(arena);
  const Tensor x = c.upload<float>(std::vector<float>(logits.begin(), logits.end()), {1, std::ssize(logits)});
  search::SearchPlan plan;
  plan.repetition_penalty = penalty;
  const search::Request request{.start_id = written};
  const std::vector<std::int32_t> tokens{written};
  const std::vector<search::RowView> rows{{tokens, &request}};
  search::StepLogits step(c, x, {});
  for (const auto& processor : search::make_processors(plan)) processor->apply(rows, step);
  const std::vector<float> after = host_copy<float>(x);
  return {after.begin(), after.end()};
}

std::vector<double> distribution(std::span<const double> logits, const Sampling& s) {
  search::Choices choices;
  for (std::size_t i = 0; i < logits.size(); ++i) choices.push_back({logits[i], static_cast<std::int32_t>(i)});
  search::apply_temperature(choices, s.temperature);
  if (s.top_k > 0) search::keep_top_k(choices, s.top_k);
  if (s.top_p < 1) search::keep_top_p(choices, s.top_p);
  std::vector<double> p(logits.size(), 0);
  const std::vector<double> sums = search::running_sums(choices);
  for (std::size_t i = 0; i < choices.size(); ++i)
    p[as_size(choices[i].token)] = (sums[i] - (i > 0 ? sums[i - 1] : 0)) / sums.back();
  return p;
}

}  // namespace tril::learn
