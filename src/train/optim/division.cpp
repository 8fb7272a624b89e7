#include "train/optim/division.h"

#include <algorithm>
#include <numeric>

#include "base/as_size.h"

namespace tril::train {
namespace {

// 64 KiB of each array: w, m, v, g of a piece fit into a core's cache, and a small model has enough pieces for all workers.
constexpr std::size_t piece_values = 1 << 14;
// A message's latency is small compared to 4 MiB; a small model has at least this many buckets, so that the first are
// sent while the last are computed.
constexpr std::size_t bucket_values = 1 << 20, least_buckets = 8;
// Gaps up to this are sent too: two messages would cost more.
constexpr std::size_t most_gap = 1024;

}  // namespace

std::vector<std::size_t> dealt_out(const std::vector<std::size_t>& loads, std::size_t takers) {
  std::vector<std::size_t> order(loads.size()), taker(loads.size()), taken(takers);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return loads[a] > loads[b]; });
  for (std::size_t i : order) {
    const auto least = std::min_element(taken.begin(), taken.end());
    *least += loads[i];
    taker[i] = as_size(least - taken.begin());
  }
  return taker;
}

Division::Division(const nn::Parameters& parameters, const std::vector<TrainedWeight>& weights, const UpdateRule& rule,
                   int rank, int ranks)
    : rank_(rank),
      ranks_(ranks),
      window_begin_(as_size(parameters.trained_window().begin)),
      window_count_(as_size(parameters.trained_window().count)) {
  std::vector<Stretch> whole;
  const auto append = [&](std::size_t weight, std::size_t begin, std::size_t end) {
    if (begin < end) whole.push_back({weight, begin, end - begin});
  };
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const nn::Parameter& p = *weights[i].parameter;
    const std::size_t begin = weights[i].begin, end = begin + weights[i].count;
    if (p.zero_row < 0) {
      append(i, begin, end);
      continue;
    }
    const std::size_t row = as_size(p.shape.count() / p.shape[0]);
    const std::size_t hole = begin + as_size(p.zero_row) * row;
    append(i, begin, hole);
    append(i, hole + row, end);
    untrained_rows_.push_back({i, hole, row});
  }
  cut(whole);
  deal_out(weights, rule);
}

void Division::cut(const std::vector<Stretch>& whole) {
  constexpr std::size_t size = piece_values;
  const std::size_t pieces = (window_count_ + size - 1) / size;
  for (std::size_t piece = 0, next = 0; piece < pieces; ++piece) {
    first_of_piece_.push_back(stretches_.size());
    const std::size_t begin = window_begin_ + piece * size, end = begin + size;
    for (; next < whole.size() && whole[next].begin < end; ++next) {
      const std::size_t from = std::max(begin, whole[next].begin), to = whole[next].begin + whole[next].count;
      stretches_.push_back({whole[next].weight, from, std::min(end, to) - from});
      if (to > end) break;  // continues in the next piece
    }
  }
  first_of_piece_.push_back(stretches_.size());

  const std::size_t per_bucket = std::max<std::size_t>(1, std::min(bucket_values / size, pieces / least_buckets));
  for (std::size_t piece = 0; piece < pieces; piece += per_bucket) {
    const std::size_t begin = piece * size;
    buckets_.push_back({begin, std::min(per_bucket * size, window_count_ - begin)});
  }
}

// A bucket's pieces are divided evenly among the ranks; each bucket starts with another rank, so that remainders are
// spread over the ranks.
void Division::deal_out(const std::vector<TrainedWeight>& weights, const UpdateRule& rule) {
  std::vector<std::size_t> whole, loads;
  for (std::size_t i = 0; i < weights.size(); ++i)
    if (rule.takes_whole(i)) whole.push_back(i), loads.push_back(weights[i].count);
  const std::vector<std::size_t> taker = dealt_out(loads, as_size(ranks_));
  std::vector<int> owner_of_weight(weights.size(), -1);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    owner_of_weight[whole[i]] = static_cast<int>(taker[i]);
    if (owner_of_weight[whole[i]] == rank_) own_whole_.push_back(whole[i]);
  }

  owned_.resize(buckets_.size() * as_size(ranks_));
  owner_.resize(stretches_.size());
  constexpr std::size_t size = piece_values;
  const auto n = as_size(ranks_);
  for (std::size_t b = 0; b < buckets_.size(); ++b) {
    const std::size_t first = buckets_[b].begin / size, count = (buckets_[b].count + size - 1) / size;
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t s = first_of_piece_[first + i]; s < first_of_piece_[first + i + 1]; ++s) {
        const int whole_owner = owner_of_weight[stretches_[s].weight];
        owner_[s] = whole_owner >= 0 ? whole_owner : static_cast<int>((i * n / count + b) % n);
        if (owner_[s] == rank_) own_.push_back(s);
        std::vector<Interval>& list = owned_[b * n + as_size(owner_[s])];
        const std::size_t begin = stretches_[s].begin - window_begin_;
        // Neighbours form one interval, including the alignment gap between them.
        if (!list.empty() && owner_[s - 1] == owner_[s] && begin - list.back().begin - list.back().count <= most_gap)
          list.back().count = begin + stretches_[s].count - list.back().begin;
        else
          list.push_back({begin, stretches_[s].count});
      }
  }
}

}  // namespace tril::train
