#include "trace/change.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/as_size.h"

namespace tril::trace {
namespace {

std::vector<double> log_probs(std::span<const float> logits) {
  const double most = static_cast<double>(*std::max_element(logits.begin(), logits.end()));
  double sum = 0;
  for (const float x : logits) sum += std::exp(static_cast<double>(x) - most);
  std::vector<double> list;
  for (const float x : logits) list.push_back(static_cast<double>(x) - most - std::log(sum));
  return list;
}

}  // namespace

Change change_between(const Outcome& before, const Outcome& after) {
  check(before.logits.size() == after.logits.size() && before.vocab == after.vocab, "change",
        "{} logits before and {} after", before.logits.size(), after.logits.size());
  Change c{.loss_before = before.loss(), .loss_after = after.loss(), .bit_identical = true, .tokens = {}};
  c.bit_identical = std::memcmp(before.logits.data(), after.logits.data(), before.logits.size() * sizeof(float)) == 0;
  const std::vector<std::int32_t> best = before.best(), best_after = after.best();
  const auto V = as_size(before.vocab);
  for (std::size_t t = 0; t < best.size(); ++t) {
    const std::span<const float> a = std::span(before.logits).subspan(t * V, V),
                                 b = std::span(after.logits).subspan(t * V, V);
    const std::vector<double> p = log_probs(a), q = log_probs(b);
    Change::Token token{.best_before = best[t],
                        .best_after = best_after[t],
                        .log_prob_before = p[as_size(best[t])],
                        .log_prob_after = q[as_size(best[t])]};
    for (std::size_t i = 0; i < V; ++i) {
      token.most_logit = std::max(token.most_logit, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
      if (p[i] > -700) token.divergence += std::exp(p[i]) * (p[i] - q[i]);
    }
    c.tokens.push_back(token);
  }
  return c;
}

}  // namespace tril::trace
