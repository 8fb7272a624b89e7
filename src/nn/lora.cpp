#include "nn/lora.h"

#include <cmath>

#include "base/as_size.h"

namespace tril::nn {

void add_lora(Parameters& p, Parameter& weight, const LoraOptions& options) {
  check(weight.shape.rank() == 2, "lora", "{} is {}, not a matrix", weight.name, weight.shape);
  const std::int64_t out = weight.shape[0], in = weight.shape[1];
  const std::string layer = weight.name.substr(0, weight.name.rfind('.'));
  auto lora = std::make_shared<Lora>();
  lora->a = &p.add(layer + ".lora_A.weight", {options.rank, in},
                   {Init::Kind::uniform, 1 / std::sqrt(static_cast<double>(in))});
  lora->b = &p.add(layer + ".lora_B.weight", {out, options.rank}, Init::zeros());
  for (Parameter* matrix : {lora->a, lora->b}) matrix->in_products = matrix->is_adapter = matrix->hidden_matrix = true;
  lora->scale = static_cast<float>(options.alpha / static_cast<double>(options.rank));
  lora->dropout = static_cast<float>(options.dropout);
  weight.trainable = false;
  weight.lora = std::move(lora);
}

Tensor lora_linear(Context& c, const Tensor& x, const Parameter& weight, const Tensor& bias,
                   const ops::LinearOptions& options) {
  const Lora& l = *weight.lora;
  const Tensor base = ops::linear(c, x, weight, bias);
  const Tensor low = ops::linear(c, ops::dropout(c, x, l.dropout), *l.a, Tensor());  // [N, rank]
  Tensor z = ops::linear(c, ops::scale(c, low, l.scale), *l.b, Tensor(), {.residual = base});
  if (options.activation != ops::Activation::none) z = ops::activate(c, options.activation, z);
  return options.residual ? ops::residual(c, options.residual, z, options.dropout)
                          : ops::dropout(c, z, options.dropout);
}

std::vector<float> merged_weights(const Parameters& p) {
  std::vector<float> flat = host_copy<float>(p.flat());
  for (const Parameter& w : p.all()) {
    if (!w.lora) continue;
    const std::vector<float> a = host_copy<float>(w.lora->a->value), b = host_copy<float>(w.lora->b->value);
    const auto out = as_size(w.shape[0]), in = as_size(w.shape[1]), rank = as_size(w.lora->a->shape[0]);
    float* const at = flat.data() + p.offset_of(w);
    std::vector<double> sum(in);
    for (std::size_t i = 0; i < out; ++i) {
      std::fill(sum.begin(), sum.end(), 0.0);
      for (std::size_t r = 0; r < rank; ++r) {
        const double factor = static_cast<double>(b[i * rank + r]) * static_cast<double>(w.lora->scale);
        for (std::size_t j = 0; j < in; ++j) sum[j] += factor * static_cast<double>(a[r * in + j]);
      }
      for (std::size_t j = 0; j < in; ++j)
        at[i * in + j] = static_cast<float>(static_cast<double>(at[i * in + j]) + sum[j]);
    }
  }
  return flat;
}

}  // namespace tril::nn
