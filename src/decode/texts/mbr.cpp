#include "decode/texts/mbr.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <string_view>

#include "metrics/chrf.h"

namespace tril::search {

std::vector<double> expected_utilities(const std::vector<std::string>& samples) {
  const std::size_t n = samples.size();
  if (n == 1) return {100.0};
  const std::vector<double> scores = chrf_of_each_pair(samples);
  std::vector<double> utilities(n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j)
      if (j != i) utilities[i] += scores[i * n + j];
    utilities[i] /= static_cast<double>(n - 1);
  }
  return utilities;
}

std::vector<std::size_t> by_utility(const std::vector<std::string>& samples, const std::vector<double>& utilities) {
  std::vector<std::size_t> order(samples.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return utilities[a] > utilities[b]; });
  std::set<std::string_view> seen;
  std::erase_if(order, [&](std::size_t i) { return !seen.insert(samples[i]).second; });
  return order;
}

}  // namespace tril::search
