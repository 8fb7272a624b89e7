#include "model/lessons/tiny_decoder.h"

namespace tril::model {

using nn::Attention;

TinyDecoder::TinyDecoder(const TinyDecoderConfig& config) : config_(config) {
  const auto& k = config_;
  nn::Parameters& p = parameters_;
  for (std::int64_t i = 0; i < k.num_layers; ++i) {
    const std::string name = "layers." + std::to_string(i);
    nn::PreNormLayer layer;
    layer.name = name;
    layer.self_norm = nn::Norm(p, name + ".norm1", k.d_model, k.eps);
    layer.self_attention = Attention(p, name + ".self_attn",
                                     {.d_model = k.d_model,
                                      .num_heads = k.num_heads,
                                      .projections = Attention::Projections::qkv,
                                      .out = "out_proj"});
    if (k.cross_attention) {
      layer.cross_norm = nn::Norm(p, name + ".norm_cross", k.d_model, k.eps);
      layer.cross_attention = Attention(p, name + ".cross_attn",
                                        {.d_model = k.d_model,
                                         .num_heads = k.num_heads,
                                         .projections = Attention::Projections::q_kv,
                                         .kv = "kv_proj",
                                         .out = "out_proj"});
    }
    layer.feed_forward_norm = nn::Norm(p, name + ".norm2", k.d_model, k.eps);
    layer.feed_forward =
        nn::FeedForward(p, name + ".ff", {.d_model = k.d_model, .d_ff = k.d_ff, .first = "0", .second = "2"});
    layers_.push_back(std::move(layer));
  }
  if (k.sinusoidal_positions) positions_.emplace(k.d_model, nn::SinusoidalPositions::Layout::interleaved);
}

Tensor TinyDecoder::forward(Context& c, const Tensor& x, const Rows& rows, const Memory* context) const {
  check_shape(x, {rows.tokens(), config_.d_model}, "tiny_decoder: x");
  const Tensor h = positions_ ? positions_->forward(c, x, rows.positions()) : x;
  const ops::Mask mask = config_.causal ? ops::Mask::causal() : ops::Mask::full();
  const auto call = std::make_shared<const StackCall>(StackCall{
      nn::SelfCall(c, rows, mask), context ? nn::CrossCall{ops::spans_of(rows, context->rows), {}} : nn::CrossCall{}});
  return run_layers(c, layers_, h, call, {.memory = context});
}

}  // namespace tril::model
