#include "train/distributed/sharded_reducer.h"

#include <algorithm>

#include "base/as_size.h"

namespace tril::train {
namespace {

// Which ranks have a pass of this number.
std::vector<bool> who_has(std::size_t pass, const std::vector<std::size_t>& counts) {
  std::vector<bool> works;
  for (std::size_t count : counts) works.push_back(pass < count);
  return works;
}

}  // namespace

ShardedReducer::ShardedReducer(model::Model& model, Optimizer& optimizer, Passes& passes, const WorkersOptions& options)
    : optimizer_(optimizer),
      passes_(passes),
      kernels_(*options.kernels),
      ranks_(options.ranks),
      sharding_(model, optimizer.division(), {ranks_, options.wire, kernels_, passes.team(), passes.gradients()}) {
  for (int i = 0; i < passes.threads(); ++i) passes.context(i).set_weight_keeper(&sharding_.keeper(i));
}

std::vector<std::size_t> ShardedReducer::passes_by_rank(std::size_t own) const {
  std::vector<std::size_t> counts;
  for (const std::string& count : ranks_->all_gather(std::to_string(own))) counts.push_back(std::stoull(count));
  return counts;
}

// All ranks make each pass together, also those without a batch for it. Its gradient goes to the ranks that step it.
void ShardedReducer::compute(const Update& update) {
  sharding_.take_waited();                // waiting time since the last update belonged to a validation
  std::vector<std::vector<Pass>> passes;  // by member
  std::size_t own = 0;
  for (std::size_t part = 0; part < passes_.parts(); ++part) {
    passes.push_back(passes_.passes_of(update.own, part));
    own = std::max(own, passes.back().size());
    passes_.restart(part);
  }
  const std::vector<std::size_t> counts = passes_by_rank(own);
  const std::size_t all = *std::max_element(counts.begin(), counts.end());
  passes_.run([&](int member) {
    const std::vector<Pass>& mine = passes[as_size(member)];
    sharding_.begin_update(member);
    for (std::size_t p = 0; p < all; ++p) {
      sharding_.begin_pass(member, /*trains=*/true, who_has(p, counts));
      if (p < mine.size()) passes_.add(member, mine[p]);
      sharding_.end_pass(member);
    }
    sharding_.end_update(member, who_has(0, counts));
  });
}

// The sum is complete: the ranks added it up in compute().
void ShardedReducer::gather(const Optimizer::Share& share) {
  optimizer_.gather(kernels_, share, sum(), [](std::size_t, std::size_t, float*) {});
}

void ShardedReducer::refresh_all() {
  passes_.team().run([&](int member) { refresh(member); });
}

void ShardedReducer::run_forward(std::size_t passes, const std::function<void(int member, std::size_t pass)>& work,
                                 const std::function<bool()>&) {
  const std::vector<std::size_t> counts = passes_by_rank(passes);
  const std::size_t all = *std::max_element(counts.begin(), counts.end());
  passes_.team().run([&](int member) {
    for (std::size_t pass = 0; pass < all; ++pass) {
      sharding_.begin_pass(member, /*trains=*/false, who_has(pass, counts));
      if (pass < passes) work(member, pass);
      sharding_.end_pass(member);
    }
  });
}

}  // namespace tril::train
