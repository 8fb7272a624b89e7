#include "nn/medusa_heads.h"

#include "base/as_size.h"

namespace tril::nn {
namespace {

constexpr std::string_view linear_weight = "linear.weight", linear_bias = "linear.bias", own_matrix = "weight";

std::string declared_name(std::int64_t head, std::int64_t layer, std::string_view end) {
  return std::string(medusa_prefix) + medusa_name(head, layer, end);
}

}  // namespace

std::string medusa_name(std::int64_t head, std::int64_t layer, std::string_view end) {
  return fmt::format("{}.{}.{}", head, layer, end);
}

MedusaHeads::MedusaHeads(Parameters& p, const MedusaSizes& sizes) : sizes_(sizes) {
  const std::int64_t D = sizes.d_model, V = sizes.own_vocab;
  const auto declare = [&](const std::string& name, const Shape& shape) {
    Parameter& weight = p.add(name, shape, Init::zeros());
    weight.is_adapter = true;
    weight.in_products = shape.rank() == 2;
    return &weight;
  };
  for (std::int64_t k = 0; k < sizes.heads; ++k) {
    for (std::int64_t l = 0; l < sizes.layers; ++l) {
      Parameter* const weight = declare(declared_name(k, l, linear_weight), {D, D});
      weight->hidden_matrix = true;
      layers_.push_back({weight, declare(declared_name(k, l, linear_bias), {D})});
    }
    if (V > 0) outputs_.push_back(declare(declared_name(k, sizes.layers, own_matrix), {V, D}));
  }
}

std::optional<MedusaHeads> MedusaHeads::find(const Parameters& p) {
  MedusaSizes sizes{.heads = 0, .layers = 0};
  while (p.find(declared_name(0, sizes.layers, linear_weight))) ++sizes.layers;
  if (sizes.layers == 0) return std::nullopt;
  while (p.find(declared_name(sizes.heads, 0, linear_weight))) ++sizes.heads;
  sizes.d_model = p.find(declared_name(0, 0, linear_weight))->shape[0];
  if (const Parameter* own = p.find(declared_name(0, sizes.layers, own_matrix))) sizes.own_vocab = own->shape[0];
  MedusaHeads found(sizes);
  for (std::int64_t k = 0; k < sizes.heads; ++k) {
    for (std::int64_t l = 0; l < sizes.layers; ++l)
      found.layers_.push_back({p.find(declared_name(k, l, linear_weight)), p.find(declared_name(k, l, linear_bias))});
    if (sizes.own_vocab > 0) found.outputs_.push_back(p.find(declared_name(k, sizes.layers, own_matrix)));
  }
  return found;
}

Tensor MedusaHeads::state(Context& c, const Tensor& hidden, std::int64_t head) const {
  Tensor h = hidden;
  for (std::int64_t l = 0; l < sizes_.layers; ++l) {
    const Layer& layer = layers_[as_size(head * sizes_.layers + l)];
    h = ops::linear(c, h, *layer.weight, layer.bias->value, {.activation = ops::Activation::silu, .residual = h});
  }
  return h;
}

const Parameter* MedusaHeads::output(std::int64_t head) const {
  return outputs_.empty() ? nullptr : outputs_[as_size(head)];
}

}  // namespace tril::nn
