// Communication between the ranks of a training run: gradients go bucket by bucket, while the backward pass still runs,
// to the ranks that step them; the updated weights go from there to all ranks. Per rank and update this moves as much
// as a ring all-reduce, 2 (N - 1) / N of the weights for N ranks [Patarasu & Yuan 2009], but each sum is computed in
// one place, in float32 and in a fixed order, so that a gradient sent as bfloat16 is rounded only once.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "dist/ranks.h"
#include "kern/kernels.h"
#include "tensor/lasting.h"
#include "train/optim/division.h"
#include "train/optim/sum_order.h"

namespace tril::train {

/// The precision in which gradients are sent.
enum class WirePrecision : std::uint8_t { fp32, bf16 };

class Exchange {
 public:
  Exchange(std::shared_ptr<dist::Ranks> ranks, const Division& division, const kern::Kernels& kernels,
           WirePrecision precision);
  /// After an error within an update, messages may still be in flight into this object's memory: abandons them.
  ~Exchange();
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  /// Begins an update. @param sums  what each rank will send: branches of the tree over `all` that it sums itself
  void begin(Branch all, std::vector<std::vector<Branch>> sums);
  /// Sends bucket `bucket` of this rank's sum number `sum`, from a gradient in the layout of the window, which must not
  /// change until add_up() is done. Call it once for each bucket and sum, sums in order; thread-safe.
  void send(std::size_t bucket, std::size_t sum, const Tensor& gradient);
  /// Waits for the other ranks' sums. @throws Error naming a lost rank
  void wait();
  /// The sum over all ranks of values [begin, begin + count) of the window, which this rank must own.
  void add_up(std::size_t begin, std::size_t count, float* to) const;

  /// Sends the values [window] that this rank owns to all ranks, and receives theirs.
  void share(Tensor values);

 private:
  struct Given {
    Tensor values;                       // this rank's, or received in float32
    std::vector<std::uint16_t> rounded;  // to be sent; in the layout of the window
    std::shared_ptr<std::byte> came;     // received in bfloat16, in the layout of the window
  };
  Given& given(int rank, std::size_t sum);

  std::shared_ptr<dist::Ranks> ranks_;
  const Division& division_;
  const kern::Kernels& kernels_;
  WirePrecision precision_;
  Branch all_;
  std::vector<std::vector<Branch>> sums_;
  std::vector<std::vector<Given>> given_;  // by rank and sum
  std::map<Branch, const Given*> of_;      // the sum of a whole branch
  std::mutex mutex_;
  std::vector<dist::Ranks::Ticket> tickets_;
};

}  // namespace tril::train
