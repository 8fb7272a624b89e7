// Several ranks: each sums the gradients of its parts, and sends every bucket of the sum as soon as the backward passes
// of all parts have completed it. The ranks' sums are added as a tree over the ranks.
#pragma once

#include <atomic>
#include <unordered_map>

#include "dist/ranks.h"
#include "train/distributed/exchange_reducer.h"

namespace tril::train {

class RankReducer : public ExchangeReducer {
 public:
  RankReducer(nn::Parameters& parameters, Optimizer& optimizer, Passes& passes, const WorkersOptions& options);

  void compute(const Update& update) override;

 private:
  void complete(std::uint64_t parameter);
  void send(std::size_t bucket);

  std::shared_ptr<dist::Ranks> ranks_;
  bool overlap_;
  std::unordered_map<std::uint64_t, Branch> buckets_of_;  // by parameter
  std::vector<std::atomic<int>> outstanding_;             // by bucket: parameters times parts
};

}  // namespace tril::train
