// Adam and AdamW with moments in 8 bits [Dettmers et al. 2022]: 2 bytes per weight instead of 8. kern/state_8bit.h has the format.
//
// As in the paper, this is for large matrices. Tensors of less than 4,096 values keep 32 bits (section 3), and so do embeddings
// and the output layer, whose rows get gradients of very different sizes (section 2.3). Blocks begin anew with each stretch, so
// that no two workers or ranks share one. A checkpoint keeps codes ("moment1_codes", "moment2_codes") and scales
// ("moment1_scales", "moment2_scales"), besides the moments in 32 bits (adam.h).
#include <algorithm>
#include <array>

#include "base/as_size.h"
#include "base/error.h"
#include "kern/state_8bit.h"
#include "train/optim/adam.h"

namespace tril::train {
namespace {

constexpr std::size_t least_values = 4096;

std::size_t size_of(const nn::Parameter& p) {
  return as_size(p.shape.count());
}

std::size_t blocks_of(std::size_t values) {
  return (values + kern::state_block - 1) / kern::state_block;
}

// Values that are expanded at a time: whole blocks.
constexpr std::size_t chunk = 4 * kern::state_block;

struct Moment {
  kern::StateSigns signs;
  Tensor codes, scales;

  void expand(std::size_t code, std::size_t block, float* y, std::size_t n) const {
    kern::expand_state(signs, codes.data<std::uint8_t>() + code, scales.data<float>() + block, y, n);
  }
  void quantize(const float* y, std::size_t code, std::size_t block, std::size_t n) {
    kern::quantize_state(signs, y, codes.data<std::uint8_t>() + code, scales.data<float>() + block, n);
  }
};

class Adam8BitRule : public UpdateRule {
 public:
  Adam8BitRule(const std::vector<TrainedWeight>& weights, const OptimizerOptions& options)
      : weights_(weights),
        options_(options),
        decoupled_decay_(options.kind == OptimizerKind::adamw),
        full_(state_places(weights, [](const nn::Parameter& p) { return has_codes(p) ? 0 : size_of(p); }), options,
              decoupled_decay_),
        codes_(state_places(weights, [](const nn::Parameter& p) { return has_codes(p) ? size_of(p) : 0; })),
        // One more for each weight, since its first stretch may end within a block.
        scales_(
            state_places(weights, [](const nn::Parameter& p) { return has_codes(p) ? blocks_of(size_of(p)) + 1 : 0; })),
        m_{kern::StateSigns::any, codes_.zeros(DType::u8), scales_.zeros()},
        v_{kern::StateSigns::positive, codes_.zeros(DType::u8), scales_.zeros()} {
    check(codes_.total > 0, "optimizer_bits",
          "8 bits are for matrices between hidden states of at least {} values, but none is trained: leave it out",
          least_values);
  }

  bool takes_whole(std::size_t) const override { return false; }

  void step(const UpdateStep& u, const Stretch& s, float* w, float* g) override {
    if (!has_codes(*weights_[s.weight].parameter)) {
      full_.step(u, s, offset_of(s), w, g);
      return;
    }
    const kern::Adam a = adam_step(options_, u, decoupled_decay_);
    std::array<float, chunk> mean, square;  // stay in the cache
    for (std::size_t i = 0; i < s.count; i += chunk) {
      const std::size_t code = code_of(s) + i, block = block_of(s) + i / kern::state_block,
                        n = std::min(chunk, s.count - i);
      m_.expand(code, block, mean.data(), n);
      v_.expand(code, block, square.data(), n);
      u.k.adam(a, w + i, mean.data(), square.data(), g + i, n);
      m_.quantize(mean.data(), code, block, n);
      v_.quantize(square.data(), code, block, n);
    }
  }

  std::vector<NamedTensor> state() const override {
    std::vector<NamedTensor> list;
    full_.append_state(list);
    list.push_back({"moment1_codes", m_.codes});
    list.push_back({"moment1_scales", m_.scales});
    list.push_back({"moment2_codes", v_.codes});
    list.push_back({"moment2_scales", v_.scales});
    return list;
  }

  std::vector<StateSlice> state_of(const Stretch& s) const override {
    if (!has_codes(*weights_[s.weight].parameter)) return full_.state_of(s, offset_of(s));
    const std::size_t code = code_of(s), block = block_of(s), blocks = blocks_of(s.count);
    return {{"moment1_codes", code, s.count},
            {"moment1_scales", block, blocks},
            {"moment2_codes", code, s.count},
            {"moment2_scales", block, blocks}};
  }

 private:
  static bool has_codes(const nn::Parameter& p) {
    return p.hidden_matrix && p.zero_row < 0 && size_of(p) >= least_values;
  }
  std::size_t offset_of(const Stretch& s) const { return s.begin - weights_[s.weight].begin; }
  std::size_t code_of(const Stretch& s) const { return codes_.at[s.weight] + offset_of(s); }
  // All stretches between the first and the last of a weight consist of whole blocks (division.cpp), so as many blocks precede a
  // stretch as the values before it fill.
  std::size_t block_of(const Stretch& s) const { return scales_.at[s.weight] + blocks_of(offset_of(s)); }

  std::vector<TrainedWeight> weights_;
  OptimizerOptions options_;
  bool decoupled_decay_;
  AdamState full_;
  StatePlaces codes_, scales_;
  Moment m_, v_;
};

}  // namespace

std::unique_ptr<UpdateRule> make_adam_8bit(const std::vector<TrainedWeight>& weights, const OptimizerOptions& options) {
  return std::make_unique<Adam8BitRule>(weights, options);
}

}  // namespace tril::train
