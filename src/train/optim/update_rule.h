// The interface of an optimizer: a rule that steps one weight, or a stretch of it, and the state that it keeps between
// steps. Each rule is one file (adam.cpp, lion.cpp, adafactor.cpp, muon.cpp) with its formula and source at the top;
// optimizer.h has what they share: clipping, noise, the moving average, the division of work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "nn/parameters.h"
#include "tensor/lasting.h"

namespace tril::train {

enum class OptimizerKind : std::uint8_t { adam, adamw, lion, adafactor, muon };
/// The bits of a value of the moments: 32, or 8 in large matrices between hidden states (adam_8bit.cpp).
enum class StateBits : std::uint8_t { eight = 8, full = 32 };

struct OptimizerOptions {
  OptimizerKind kind = OptimizerKind::adam;
  StateBits bits = StateBits::full;  ///< adam's and adamw's
  double beta1 = 0.9, beta2 = 0.98, epsilon = 1e-9, weight_decay = 0;
  bool decay_matrices_only = false;  ///< no decay for norms and biases, which are vectors
  double momentum = 0.95;            ///< muon's
  double ema = 0;                    ///< decay of the moving average of the weights; 0: none
  bool shard_weights = false;  ///< this rank has only its own stretches of the weights: they are part of its state
  double gradient_noise = 0;   ///< eta of the noise [Neelakantan et al. 2015]; 0: none
  std::uint64_t seed = 1;      ///< of the noise
};

struct NamedTensor {
  std::string name;
  Tensor value;
};

/// The trained weights, in the model's order.
struct TrainedWeight {
  const nn::Parameter* parameter = nullptr;
  std::size_t begin = 0, count = 0;  ///< position in the flat block
};
std::vector<TrainedWeight> trained_weights(const nn::Parameters& parameters);

/// Values [begin, begin + count) of the flat block, all within one weight.
struct Stretch {
  std::size_t weight = 0;  ///< its number among the trained weights
  std::size_t begin = 0, count = 0;
};

/// Parameters that all stretches of an update share.
struct UpdateStep {
  const kern::Kernels& k;
  std::int64_t t = 1;  ///< the update's number, from 1
  double rate = 0, gradient_scale = 1;
  double weight_decay = 0;  ///< of the weight that is stepped
};

/// Values [begin, begin + count) of a tensor of the optimizer state.
struct StateSlice {
  std::string tensor;  ///< its name
  std::size_t begin = 0, count = 0;
};

class UpdateRule {
 public:
  virtual ~UpdateRule() = default;
  /// Whether one worker steps this weight as a whole; otherwise it is stepped in stretches of any length.
  virtual bool takes_whole(std::size_t weight) const = 0;
  /// Steps w [count] by the gradient g [count], both at the stretch's first value. May overwrite g. Different stretches
  /// may be stepped concurrently.
  virtual void step(const UpdateStep& u, const Stretch& s, float* w, float* g) = 0;
  /// The state for a checkpoint, besides the step's number.
  virtual std::vector<NamedTensor> state() const = 0;
  /// The parts of the state that step() reads and writes for this stretch.
  virtual std::vector<StateSlice> state_of(const Stretch& s) const = 0;
};

/// Where each weight's part of a state tensor begins: compact, over the weights for which `has_part` is true.
struct StatePlaces {
  std::vector<std::size_t> at;  ///< by trained weight; for a weight without a part, where the next part begins
  std::size_t total = 0;

  /// The state tensor [total], zeroed.
  Tensor zeros(DType type = DType::f32) const;
};
StatePlaces state_places(const std::vector<TrainedWeight>& weights,
                         const std::function<std::size_t(const nn::Parameter&)>& values);

using MakeRule = std::unique_ptr<UpdateRule>(const std::vector<TrainedWeight>&, const OptimizerOptions&);
MakeRule make_adam, make_adam_8bit, make_lion, make_adafactor, make_muon;
/// The rule of options.kind.
MakeRule make_rule;

}  // namespace tril::train
