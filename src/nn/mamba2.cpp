#include "nn/mamba2.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "ops/dense.h"
#include "ops/scale_columns.h"
#include "ops/state_space.h"
#include "tensor/observer.h"

namespace tril::nn {

Mamba2::Mamba2(Parameters& p, const std::string& prefix, const Options& o)
    : o_(o), name_(prefix.substr(prefix.rfind('.') + 1)) {
  check(o.groups > 0 && o.num_heads % o.groups == 0, prefix, "{} groups do not divide {} heads", o.groups, o.num_heads);
  in_ = Linear(p, prefix + ".in_proj", o.d_model, inner() + mixed() + o.num_heads, {.bias = o.in_bias});
  convolution_ = CausalConvolution(p, prefix + ".conv1d", {.width = mixed(), .taps = o.taps, .bias = o.conv_bias});
  dt_bias_ = &p.add(prefix + ".dt_bias", {o.num_heads}, Init::ones());
  log_rate_ =
      &p.add(prefix + ".A_log", {o.num_heads}, {Init::Kind::uniform, 2});  // the heads remember for different times
  skip_ = &p.add(prefix + ".D", {o.num_heads}, Init::ones());
  if (o.norm != GatedNorm::none) {
    norm_ = Norm(p, prefix + ".norm", inner() / o.groups, o.norm_eps, Norm::Kind::rms_plain);
    weight_ = &p.add(prefix + ".norm.weight", {inner()}, Init::ones());
  }
  out_ = Linear(p, prefix + ".out_proj", inner(), o.d_model, {.bias = o.out_bias});
  if (std::ranges::all_of(o.part_scales, [](float m) { return m == 1; })) return;
  const auto scales = std::make_shared<std::vector<float>>();
  const std::int64_t keys = o.groups * o.d_state, widths[]{inner(), inner(), keys, keys, o.num_heads};
  for (std::size_t i = 0; i < std::size(widths); ++i)
    scales->insert(scales->end(), static_cast<std::size_t>(widths[i]), o.part_scales[i]);
  const auto size = std::ssize(*scales);
  scales_ = foreign_tensor(reinterpret_cast<std::byte*>(scales->data()), {size}, DType::f32, scales);
}

std::int64_t Mamba2::matrix_size() const {
  return ops::state_space_state(o_.num_heads, o_.d_state, o_.d_head);
}

Tensor Mamba2::projected(Context& c, const Tensor& x) const {
  const Tensor all = in_.forward(c, o_.input_scale == 1 ? x : ops::scale(c, x, o_.input_scale));
  return scales_ ? ops::scale_columns(c, all, scales_) : all;
}

Tensor Mamba2::scan(Context& c, const Tensor& projected, const Rows& rows, const ops::States& states) const {
  const std::int64_t inputs = convolution_.state_size(), keys = o_.groups * o_.d_state, end = inner() + mixed();
  const ops::States before = states ? states.columns(0, inputs) : states;
  const ops::States matrix = states ? states.columns(inputs, inputs + matrix_size()) : states;
  const Tensor xbc =
      ops::activate(c, o_.activation, convolution_.forward(c, projected.columns(inner(), end), rows, before));
  const ops::StateSpace in{.x = xbc.columns(0, inner()),
                           .b = xbc.columns(inner(), inner() + keys),
                           .c = xbc.columns(inner() + keys, mixed()),
                           .raw = projected.columns(end, end + o_.num_heads),
                           .bias = dt_bias_->value,
                           .log_rate = log_rate_->value,
                           .skip = skip_->value};
  return ops::state_space(c, in, o_.groups, rows, matrix);
}

Tensor Mamba2::normed(Context& c, const Tensor& y) const {
  const std::int64_t N = y.size(0);
  const Tensor by_group = norm_.forward(c, y.reshape({N * o_.groups, inner() / o_.groups}));
  return ops::scale_columns(c, by_group.reshape({N, inner()}), weight_->value);
}

Tensor Mamba2::self(Context& c, const Tensor& given, const SelfCall& call, std::int64_t layer,
                    const ops::LinearOptions& out) const {
  const auto at = c.scope(name_);
  const ObservedPart part(c, "self");
  Tensor x = given;
  observe(c, "input", x);
  const Tensor all = projected(c, x);
  Tensor y = scan(c, all, call.rows(), call.states(layer, name_));
  if (o_.norm == GatedNorm::before_gate) y = normed(c, y);
  y = ops::gated(c, ops::Activation::silu, ops::dense(c, all.columns(0, inner())), y);
  if (o_.norm == GatedNorm::after_gate) y = normed(c, y);
  observe(c, {"heads", o_.num_heads}, y);
  return out_.forward(c, y, out);
}

}  // namespace tril::nn
