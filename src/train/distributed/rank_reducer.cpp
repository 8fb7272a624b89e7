#include "train/distributed/rank_reducer.h"

#include <algorithm>

#include "base/as_size.h"

namespace tril::train {

RankReducer::RankReducer(nn::Parameters& parameters, Optimizer& optimizer, Passes& passes,
                         const WorkersOptions& options)
    : ExchangeReducer(parameters, optimizer, passes, options),
      ranks_(options.ranks),
      overlap_(options.overlap),
      outstanding_(optimizer.division().buckets().size()) {
  const Division& division = optimizer.division();
  const auto bucket_of = [&](std::size_t value) {
    const auto behind = std::upper_bound(division.buckets().begin(), division.buckets().end(), value,
                                         [](std::size_t v, const Interval& i) { return v < i.begin; });
    return as_size(behind - division.buckets().begin()) - 1;
  };
  for (const TrainedWeight& w : trained_weights(parameters)) {
    const std::size_t begin = w.begin - division.window_begin(), end = begin + w.count;
    buckets_of_[w.parameter->value.id()] = {bucket_of(begin), bucket_of(end - 1) + 1};
  }
}

void RankReducer::compute(const Update& update) {
  const auto ranks = as_size(ranks_->size());
  std::vector<std::vector<Branch>> sums(ranks);
  for (std::size_t r = 0; r < ranks; ++r)
    if (share_of(update.batches, r, ranks).size() > 0) sums[r] = {{r, r + 1}};
  exchange_.begin({0, ranks}, sums);
  part_gradients_.clear();
  if (update.own.parts.empty()) return;

  for (std::atomic<int>& o : outstanding_) o = 0;
  for (const auto& [parameter, buckets] : buckets_of_)
    for (std::size_t b = buckets.first; b < buckets.last; ++b) outstanding_[b] += static_cast<int>(passes_.parts());
  if (overlap_) {
    passes_.compute(update.own, [this](std::uint64_t parameter) { complete(parameter); });
  } else {
    passes_.compute(update.own);
    for (std::size_t b = 0; b < outstanding_.size(); ++b) send(b);
  }
  note(passes_.gradients()[0], update.own);
}

// A part has computed its gradient of a parameter. The last one to complete a bucket adds up the parts and sends it.
void RankReducer::complete(std::uint64_t parameter) {
  const Branch buckets = buckets_of_.at(parameter);
  for (std::size_t b = buckets.first; b < buckets.last; ++b)
    if (outstanding_[b].fetch_sub(1, std::memory_order_acq_rel) == 1) send(b);
}

void RankReducer::send(std::size_t bucket) {
  std::vector<Tensor>& gradients = passes_.gradients();
  const Interval values = optimizer_.division().buckets()[bucket];
  float* const sum = gradients[0].data<float>() + values.begin;
  for (std::size_t part = 1; part < gradients.size(); ++part)
    kernels_.axpy(1.0f, gradients[part].data<float>() + values.begin, sum, values.count);
  exchange_.send(bucket, 0, gradients[0]);
}

}  // namespace tril::train
