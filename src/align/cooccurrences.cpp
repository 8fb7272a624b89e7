#include "align/cooccurrences.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <span>

namespace tril {
namespace {

constexpr std::size_t keys_at_once = std::size_t{1} << 25;

std::uint64_t key_of(std::int64_t source, std::int32_t target) {
  return static_cast<std::uint64_t>(source) << 32 | static_cast<std::uint32_t>(target);
}

}  // namespace

Cooccurrences::Cooccurrences(const EachPair& each_pair, std::int64_t sources) {
  std::vector<std::uint64_t> fresh;
  each_pair([&](Row source, Row target) {
    for (const std::int32_t t : target) {
      for (const std::int32_t s : source) fresh.push_back(key_of(s, t));
      fresh.push_back(key_of(sources, t));
      if (fresh.size() >= keys_at_once) merge(fresh);
    }
  });
  merge(fresh);
  begin_.assign(static_cast<std::size_t>(sources) + 2, 0);
  for (const std::uint64_t key : keys_) ++begin_[(key >> 32) + 1];
  std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
}

std::size_t Cooccurrences::place(std::int64_t source, std::int32_t target) const {
  const auto of_source = std::span(keys_).subspan(begin(source), end(source) - begin(source));
  const auto found = std::lower_bound(of_source.begin(), of_source.end(), key_of(source, target));
  return begin(source) + static_cast<std::size_t>(found - of_source.begin());
}

void Cooccurrences::normalise(std::vector<double>& values) const {
  for (std::int64_t s = 0; s <= sources(); ++s) {
    double sum = 0;
    for (std::size_t i = begin(s); i < end(s); ++i) sum += values[i];
    for (std::size_t i = begin(s); i < end(s) && sum > 0; ++i) values[i] /= sum;
  }
}

void Cooccurrences::merge(std::vector<std::uint64_t>& fresh) {
  std::sort(fresh.begin(), fresh.end());
  fresh.erase(std::unique(fresh.begin(), fresh.end()), fresh.end());
  std::vector<std::uint64_t> all;
  all.reserve(keys_.size() + fresh.size());
  std::set_union(keys_.begin(), keys_.end(), fresh.begin(), fresh.end(), std::back_inserter(all));
  keys_.swap(all);
  fresh.clear();
}

}  // namespace tril
