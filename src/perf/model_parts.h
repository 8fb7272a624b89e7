// The parameters of a model by part: embeddings, each kind of layer part, output. With them, the weights that one token uses,
// which a mixture of experts has fewer of.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/spec/model.h"

namespace tril::train {

enum class PartKind : std::uint8_t {
  embeddings,       ///< with positions, and the projections of tables of another width
  attention,        ///< self-attention
  cross_attention,  ///< of a decoder, to the encoder's output
  recurrent,        ///< linear attention, delta rule, convolution or SSRU in place of self-attention
  feed_forward,
  router,          ///< the weights that choose experts
  experts,         ///< those of which a token takes a few
  shared_experts,  ///< those that every token takes
  norms,
  output,  ///< the output matrix, unless it is the embedding table
  other,
};

/// "cross-attention"
std::string_view name_of(PartKind kind);

struct ModelPart {
  bool encoder = false;  ///< of the encoder's layers
  PartKind kind = PartKind::other;
  std::int64_t parameters = 0;
  double active = 0;  ///< parameters that one token uses: of E experts of which it takes k, the fraction k / E
};

/// The parts that the model has, in the order of the enum, the encoder's first. Weights need not be loaded.
std::vector<ModelPart> parts_of(const model::Model& m);

/// The kind of a weight, by its name, unless its rows are read by number.
PartKind kind_of(const nn::Parameter& p);

/// Bytes of weights that one step of one token reads: every matrix of a product, and one row of each embedding
/// table. Of experts, those that a token takes. Leaves out the encoder of a model that has one.
double step_weight_bytes(const model::Model& m, nn::ServingForm form);

}  // namespace tril::train
