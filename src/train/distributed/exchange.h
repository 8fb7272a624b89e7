// What travels between the ranks of a training run: gradients, bucket by bucket while the backward walk still runs, each
// stretch to the rank that steps it; and the stepped weights from there to all. Per rank and update that is what a ring would
// move, 2 (N - 1) / N of the weights for N ranks [Patarasu & Yuan 2009], but a sum is made in one place, in float32 and in
// a fixed order, so that a gradient which travels as bfloat16 is rounded once.
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

/// How gradients travel.
enum class WirePrecision : std::uint8_t { fp32, bf16 };

class Exchange {
 public:
  Exchange(std::shared_ptr<dist::Ranks> ranks, const Division& division, const kern::Kernels& kernels,
           WirePrecision precision);
  /// Whoever fails within an update leaves messages on their way, whose memory goes with this.
  ~Exchange();
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  /// An update begins. @param sums  what each rank will give: branches of the tree over `all` that it adds up itself
  void begin(Branch all, std::vector<std::vector<Branch>> sums);
  /// Bucket `bucket` of this rank's sum number `sum` is there, in a gradient laid out as the window, which stays as it is
  /// until add_up() is done with it. To be called once for each of both, sums in their order; from any thread.
  void send(std::size_t bucket, std::size_t sum, const Tensor& gradient);
  /// Waits for what the others give. @throws Error that names a rank that is gone
  void wait();
  /// The sum over all ranks of values [begin, begin + count) of the window, which are this rank's to step.
  void add_up(std::size_t begin, std::size_t count, float* to) const;

  /// Gives everybody the values [window] that this rank steps, and gets theirs.
  void share(const Tensor& values);

 private:
  struct Given {
    Tensor values;                       // this rank's, or what came in float32
    std::vector<std::uint16_t> rounded;  // to send; by the window's values
    std::shared_ptr<std::byte> came;     // in bfloat16, the window's values
  };
  Given& given(int rank, std::size_t sum);

  std::shared_ptr<dist::Ranks> ranks_;
  const Division& division_;
  const kern::Kernels& kernels_;
  WirePrecision precision_;
  Branch all_;
  std::vector<std::vector<Branch>> sums_;
  std::vector<std::vector<Given>> given_;  // by rank and sum
  std::map<Branch, const Given*> of_;      // what is given for a branch as a whole
  std::mutex mutex_;
  std::vector<dist::Ranks::Ticket> tickets_;
};

}  // namespace tril::train
