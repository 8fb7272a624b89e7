// Medusa heads [Cai et al. 2024, section 2.1.1]: small layers on the last hidden state h of a model. The model itself predicts the next
// token from h; head k, from 0, predicts the token k + 1 places after that one.
//   h_0 = h,   h_l = h_{l-1} + SiLU(h_{l-1} W_l^T + b_l),   logits = h_L U^T
//   h [N, D]   W_l [D, D]   b_l [D]   U [V, D]
// U is a matrix of the head's own, or the output matrix of the model: then all heads share it, and one product serves them all. Gradients
// follow from those of ops::linear.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "nn/parameters.h"

namespace tril::nn {

struct MedusaSizes {
  std::int64_t heads = 0, layers = 1;
  std::int64_t d_model = 0;    ///< D
  std::int64_t own_vocab = 0;  ///< V of the heads' own matrices; 0: they share the model's output matrix
};

class MedusaHeads {
 public:
  /// Declares medusa_head.K.L.linear.weight [D, D] and .bias [D] for layer L of head K, and medusa_head.K.LAYERS.weight [V, D] for a
  /// matrix of its own. Zeros, so that every head begins as the model [section 2.2.1].
  MedusaHeads(Parameters& p, const MedusaSizes& sizes);
  /// The heads that were declared in `p`; nothing if there are none.
  static std::optional<MedusaHeads> find(const Parameters& p);

  const MedusaSizes& sizes() const { return sizes_; }
  std::int64_t count() const { return sizes_.heads; }
  /// h_L [N, D] of one head, from hidden states [N, D].
  Tensor state(Context& c, const Tensor& hidden, std::int64_t head) const;
  /// U of one head; null: the model's output matrix.
  const Parameter* output(std::int64_t head) const;

 private:
  struct Layer {
    const Parameter *weight, *bias;
  };
  explicit MedusaHeads(const MedusaSizes& sizes) : sizes_(sizes) {}

  MedusaSizes sizes_;
  std::vector<Layer> layers_;              // head after head
  std::vector<const Parameter*> outputs_;  // by head; empty: shared
};

/// What the names of all weights of heads begin with, within a model.
inline constexpr std::string_view medusa_prefix = "medusa_head.";
/// The name of a head's weight in published files, "0.0.linear.weight"; `layer` = sizes.layers: of its own matrix, "0.1.weight".
std::string medusa_name(std::int64_t head, std::int64_t layer, std::string_view end);

}  // namespace tril::nn
