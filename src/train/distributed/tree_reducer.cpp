#include "train/distributed/tree_reducer.h"

#include "base/as_size.h"
#include "tensor/lasting.h"

namespace tril::train {

TreeReducer::TreeReducer(nn::Parameters& parameters, Optimizer& optimizer, Passes& passes,
                         const WorkersOptions& options)
    : ExchangeReducer(parameters, optimizer, passes, options), ranks_(options.ranks) {
  if (ranks_->size() == 1) local_ = std::make_unique<LocalReducer>(parameters, optimizer, passes, kernels_);
}

GradientReducer& TreeReducer::for_update(std::size_t batches) {
  if (local_ && batches == 1) return *local_;
  return *this;
}

void TreeReducer::compute(const Update& update) {
  spare_.insert(spare_.end(), sums_.begin(), sums_.end());  // of the last update
  sums_.clear();
  part_gradients_.clear();
  const auto ranks = as_size(ranks_->size()), rank = as_size(ranks_->rank());
  const Branch all{0, update.batches};
  std::vector<std::vector<Branch>> branches(ranks);
  for (std::size_t r = 0; r < ranks; ++r) append_branches(all, share_of(update.batches, r, ranks), branches[r]);
  exchange_.begin(all, branches);
  for (std::size_t i = 0; i < branches[rank].size(); ++i) {
    sums_.push_back(sum_of(branches[rank][i], update.own));
    for (std::size_t b = 0; b < optimizer_.division().buckets().size(); ++b) exchange_.send(b, i, sums_.back());
  }
}

// The result is in memory that goes back to spare_ later.
Tensor TreeReducer::sum_of(Branch branch, const BatchParts& own) {
  const auto one_batch = [&](Branch b) { return b.size() > 1 ? Tensor() : gradient_of(own.only(b.first)); };
  const auto join = [&](const Tensor& a, const Tensor& b) {
    add(b, a);
    spare_.push_back(b);
    return a;
  };
  return sum_in_order(branch, one_batch, join);
}

// The sum over the parts of one batch.
Tensor TreeReducer::gradient_of(const BatchParts& batch) {
  passes_.compute(batch);
  if (spare_.empty()) spare_.push_back(lasting_zeros(passes_.gradients()[0].count()));
  Tensor sum = spare_.back();
  spare_.pop_back();
  const std::vector<Tensor>& gradients = passes_.gradients();
  in_shares([&](std::size_t begin, std::size_t n) {
    float* const to = sum.data<float>() + begin;
    kernels_.copy(gradients[0].data<float>() + begin, to, n * sizeof(float));
    for (std::size_t part = 1; part < gradients.size(); ++part)
      kernels_.axpy(1.0f, gradients[part].data<float>() + begin, to, n);
  });
  note(sum, batch);
  return sum;
}

void TreeReducer::add(const Tensor& more, Tensor sum) {
  in_shares([&](std::size_t begin, std::size_t n) {
    kernels_.axpy(1.0f, more.data<float>() + begin, sum.data<float>() + begin, n);
  });
}

// Calls work(begin, count) for each worker's share of the trained window.
template <class F>
void TreeReducer::in_shares(const F& work) {
  const std::size_t count = optimizer_.division().window_count(), members = as_size(passes_.threads());
  passes_.team().run([&](int member) {
    const auto m = as_size(member);
    const std::size_t begin = count * m / members, end = count * (m + 1) / members;
    work(begin, end - begin);
  });
}

}  // namespace tril::train
