#include "train/distributed/gradient_reducer.h"

#include "train/distributed/local_reducer.h"
#include "train/distributed/rank_reducer.h"
#include "train/distributed/sharded_reducer.h"
#include "train/distributed/tree_reducer.h"

namespace tril::train {

std::unique_ptr<GradientReducer> make_gradient_reducer(model::Model& model, Optimizer& optimizer, Passes& passes,
                                                       const WorkersOptions& options) {
  const bool alone = options.ranks->size() == 1;
  if (options.shard_weights && !alone) {
    check(!options.fixed_order, "sharded weights", "are summed in a different order for each number of ranks");
    check(options.parts == options.threads, "sharded weights", "{} parts for {} threads", options.parts,
          options.threads);
    return std::make_unique<ShardedReducer>(model, optimizer, passes, options);
  }
  if (options.fixed_order) return std::make_unique<TreeReducer>(model.parameters(), optimizer, passes, options);
  if (!alone) return std::make_unique<RankReducer>(model.parameters(), optimizer, passes, options);
  return std::make_unique<LocalReducer>(model.parameters(), optimizer, passes, *options.kernels);
}

}  // namespace tril::train
