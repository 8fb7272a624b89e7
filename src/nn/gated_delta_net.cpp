#include "nn/gated_delta_net.h"

#include <cmath>

#include "ops/dense.h"
#include "ops/gated_delta.h"
#include "tensor/observer.h"

namespace tril::nn {
namespace {

constexpr float unit_eps = 1e-6f;  // x / sqrt(|x|^2 + eps): a part of the published families

}  // namespace

GatedDeltaNet::GatedDeltaNet(Parameters& p, const std::string& prefix, const Options& o)
    : o_(o), name_(prefix.substr(prefix.rfind('.') + 1)) {
  check(o.num_key_heads > 0 && o.num_heads % o.num_key_heads == 0, prefix, "{} key heads do not divide {} heads",
        o.num_key_heads, o.num_heads);
  const auto make = [&](const char* name, std::int64_t rows) {
    return Linear(p, prefix + "." + name, o.d_model, rows, {.bias = false});
  };
  if (o.fused) {
    qkvz_ = make("in_proj_qkvz", qkv_size() + value_size()), ba_ = make("in_proj_ba", 2 * o.num_heads);
    ba_.weight()->in_products = false;
  } else {
    qkv_ = make("in_proj_qkv", qkv_size()), z_ = make("in_proj_z", value_size());
    b_ = make("in_proj_b", o.num_heads), a_ = make("in_proj_a", o.num_heads);
    b_.weight()->in_products = a_.weight()->in_products = false;
    stack_ = p.stack({qkv_.weight(), z_.weight()}, {});
  }
  convolution_ = CausalConvolution(p, prefix + ".conv1d", {.width = qkv_size(), .taps = o.taps});
  dt_bias_ = &p.add(prefix + ".dt_bias", {o.num_heads}, Init::ones());
  log_rate_ =
      &p.add(prefix + ".A_log", {o.num_heads}, {Init::Kind::uniform, 2});  // the heads remember for different times
  // rms_norm divides by the root of the mean, not of the sum: its result has the length sqrt(d_k), not 1.
  unit_ = HeadNorm(
      p, prefix + ".unit", {o.num_key_heads, o.d_k},
      {.over = HeadNorm::Over::head, .kind = Norm::Kind::rms_plain, .eps = unit_eps / static_cast<float>(o.d_k)});
  norm_ = Norm(p, prefix + ".norm", o.d_v, o.norm_eps, Norm::Kind::rms);
  out_ = Linear(p, prefix + ".out_proj", value_size(), o.d_model, {.bias = false});
}

std::int64_t GatedDeltaNet::matrix_size() const {
  return ops::gated_delta_state(o_.num_heads, o_.d_k, o_.d_v);
}

GatedDeltaNet::Projected GatedDeltaNet::projected(Context& c, const Tensor& x) const {
  const std::int64_t qkv = qkv_size(), all = qkv + value_size();
  if (o_.fused) {
    const Tensor y = qkvz_.forward(c, x), gates = ba_.forward(c, x);
    return {y.columns(0, qkv), y.columns(qkv, all), gates.columns(0, o_.num_heads),
            gates.columns(o_.num_heads, 2 * o_.num_heads)};
  }
  const Tensor b = b_.forward(c, x), a = a_.forward(c, x);
  if (stack_->from.empty()) return {qkv_.forward(c, x), z_.forward(c, x), b, a};
  const Tensor y = nn::forward(c, x, *stack_, 0);
  return {y.columns(0, qkv), y.columns(qkv, all), b, a};
}

Tensor GatedDeltaNet::delta(Context& c, const Projected& from, const Rows& rows, const ops::States& states) const {
  const std::int64_t inputs = convolution_.state_size(), keys = key_size();
  const ops::States before = states ? states.columns(0, inputs) : states;
  const ops::States matrix = states ? states.columns(inputs, inputs + matrix_size()) : states;
  const Tensor qkv = ops::activate(c, o_.activation, convolution_.forward(c, from.qkv, rows, before));
  const auto root = std::sqrt(static_cast<float>(o_.d_k));
  ops::GatedDelta x{.q = unit_.forward(c, qkv.columns(0, keys)),
                    .k = ops::scale(c, unit_.forward(c, qkv.columns(keys, 2 * keys)), 1 / root),
                    .v = qkv.columns(2 * keys, qkv_size()),
                    .decay = ops::delta_decay(c, from.a, log_rate_->value, dt_bias_->value),
                    .beta = ops::activate(c, ops::Activation::sigmoid, ops::dense(c, from.b)),
                    .scale = 1 / (root * root)};  // normalises q, and scales scores as in attention
  observe(c, {"q", o_.num_key_heads}, x.q);
  observe(c, {"k", o_.num_key_heads}, x.k);
  observe(c, {"v", o_.num_heads}, x.v);
  observe(c, "decay", x.decay);
  observe(c, "beta", x.beta);
  return ops::gated_delta(c, x, o_.num_key_heads, rows, matrix);
}

Tensor GatedDeltaNet::self(Context& c, const Tensor& given, const SelfCall& call, std::int64_t layer,
                           const ops::LinearOptions& out) const {
  const auto at = c.scope(name_);
  const ObservedPart part(c, "self");
  Tensor x = given;
  observe(c, "input", x);
  const Projected from = projected(c, x);
  const Tensor y = delta(c, from, call.rows(), call.states(layer, name_));
  const std::int64_t N = x.size(0);
  const Tensor normed = norm_.forward(c, y.reshape({N * o_.num_heads, o_.d_v})).reshape({N, value_size()});
  Tensor heads = ops::gated(c, ops::Activation::silu, ops::dense(c, from.z), normed);
  observe(c, {"heads", o_.num_heads}, heads);
  return out_.forward(c, heads, out);
}

}  // namespace tril::nn
