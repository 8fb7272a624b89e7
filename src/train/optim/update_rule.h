// What an optimiser is to the training loop: a rule that steps one weight, or a stretch of one, and the state that it
// keeps from step to step. Each rule is one file (adam.cpp, lion.cpp, adafactor.cpp, muon.cpp) with its formula and
// source at the head; optimizer.h has what they share: clipping, noise, the moving average, the division of labour.
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

struct OptimizerOptions {
  OptimizerKind kind = OptimizerKind::adam;
  double beta1 = 0.9, beta2 = 0.98, epsilon = 1e-9, weight_decay = 0;
  bool decay_matrices_only = false;  ///< norms and biases, being of one dimension, keep their size
  double momentum = 0.95;            ///< muon's
  double ema = 0;                    ///< decay of the moving average of the weights; 0: none is kept
  bool shard_weights = false;  ///< of the weights too this rank has its own stretches alone: they are part of its state
  double gradient_noise = 0;   ///< eta of the noise [Neelakantan et al. 2015]; 0: none
  std::uint64_t seed = 1;      ///< of the noise
};

struct NamedTensor {
  std::string name;
  Tensor value;
};

/// The weights that are trained, in the model's order.
struct TrainedWeight {
  const nn::Parameter* parameter = nullptr;
  std::size_t begin = 0, count = 0;  ///< where in the flat block
};
std::vector<TrainedWeight> trained_weights(const nn::Parameters& parameters);

/// Values [begin, begin + count) of the flat block, all of one weight.
struct Stretch {
  std::size_t weight = 0;  ///< its number among the trained ones
  std::size_t begin = 0, count = 0;
};

/// What all stretches of one update have in common.
struct UpdateStep {
  const kern::Kernels& k;
  std::int64_t t = 1;  ///< the update's number, from 1
  double rate = 0, gradient_scale = 1;
  double weight_decay = 0;  ///< of the weight that is stepped
};

/// Values [begin, begin + count) of a tensor of an optimiser's state.
struct StateSlice {
  std::string tensor;  ///< its name
  std::size_t begin = 0, count = 0;
};

class UpdateRule {
 public:
  virtual ~UpdateRule() = default;
  /// Whether this weight is stepped whole, by one worker; otherwise in stretches of any length.
  virtual bool takes_whole(std::size_t weight) const = 0;
  /// Steps w [count] by the gradient g [count], both at the stretch's first value. g may be overwritten. Different
  /// stretches may be stepped at once.
  virtual void step(const UpdateStep& u, const Stretch& s, float* w, float* g) = 0;
  /// What a checkpoint keeps, besides the step's number.
  virtual std::vector<NamedTensor> state() const = 0;
  /// What of it step() reads and writes for this stretch.
  virtual std::vector<StateSlice> state_of(const Stretch& s) const = 0;
};

/// Where each weight's share of a state tensor begins: compact, over the weights that `has_part` names.
struct StatePlaces {
  std::vector<std::size_t> at;  ///< by trained weight; the next one's where a weight has none
  std::size_t total = 0;
};
StatePlaces state_places(const std::vector<TrainedWeight>& weights,
                         const std::function<std::size_t(const nn::Parameter&)>& values);

using MakeRule = std::unique_ptr<UpdateRule>(const std::vector<TrainedWeight>&, const OptimizerOptions&);
MakeRule make_adam, make_lion, make_adafactor, make_muon;
/// The one that options.kind names.
MakeRule make_rule;

}  // namespace tril::train
