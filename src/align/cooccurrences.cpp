#include "align/cooccurrences.h"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace tril {
namespace {

constexpr std::size_t keys_at_once = std::size_t{1} << 25;

std::uint64_t key_of(std::size_t source, std::int32_t target) {
  return static_cast<std::uint64_t>(source) << 32 | static_cast<std::uint32_t>(target);
}

}  // namespace

Cooccurrences::Cooccurrences(const EachPair& each_pair, std::size_t sources) {
  std::vector<std::uint64_t> fresh;
  each_pair([&](Row source, Row target) {
    for (const std::int32_t t : target) {
      for (const std::int32_t s : source) fresh.push_back(key_of(static_cast<std::size_t>(s), t));
      fresh.push_back(key_of(sources, t));
      if (fresh.size() >= keys_at_once) merge(fresh);
    }
  });
  merge(fresh);
  begin_.assign(sources + 2, 0);
  for (const std::uint64_t key : keys_) ++begin_[(key >> 32) + 1];
  std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
}

std::size_t Cooccurrences::place(std::size_t source, std::int32_t target) const {
  const auto from = keys_.begin() + static_cast<std::ptrdiff_t>(begin_[source]),
             to = keys_.begin() + static_cast<std::ptrdiff_t>(begin_[source + 1]);
  return static_cast<std::size_t>(std::lower_bound(from, to, key_of(source, target)) - keys_.begin());
}

void Cooccurrences::normalise(std::vector<double>& values) const {
  for (std::size_t s = 0; s <= sources(); ++s) {
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
