#include "learn/distribution.h"

#include "base/as_size.h"
#include "search/warpers.h"

namespace tril::learn {

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
