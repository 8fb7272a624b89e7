#include "nn/latent_attention.h"

#include <array>
#include <cmath>

#include "ops/concat_columns.h"
#include "ops/dense.h"
#include "ops/join_heads.h"
#include "tensor/observer.h"

namespace tril::nn {

LatentAttention::LatentAttention(Parameters& p, const std::string& prefix, const Options& o)
    : o_(o), name_(prefix.substr(prefix.rfind('.') + 1)) {
  const std::int64_t q_size = o.num_heads * (o.d_rotated + o.d_own);
  if (o.query_rank > 0) {
    q_down_ = Linear(p, prefix + ".q_a_proj", o.d_model, o.query_rank, {.bias = o.bias});
    q_norm_.emplace(p, prefix + ".q_a_layernorm", o.query_rank, o.norm_eps, Norm::Kind::rms);
    q_up_ = Linear(p, prefix + ".q_b_proj", o.query_rank, q_size, {.bias = false});
  } else {
    q_ = Linear(p, prefix + ".q_proj", o.d_model, q_size, {.bias = false});
  }
  down_ = Linear(p, prefix + ".kv_a_proj_with_mqa", o.d_model, o.rank + o.d_rotated, {.bias = o.bias});
  norm_ = Norm(p, prefix + ".kv_a_layernorm", o.rank, o.norm_eps, Norm::Kind::rms);
  up_ = Linear(p, prefix + ".kv_b_proj", o.rank, o.num_heads * (o.d_own + o.d_v), {.bias = false});
  up_.weight()->in_products = up_.weight()->adaptable = false;  // of_cache() reads its values
  out_ = Linear(p, prefix + ".o_proj", o.num_heads * o.d_v, o.d_model, {.bias = o.bias});
}

ops::AttentionOptions LatentAttention::op(ops::Mask mask, std::int64_t kv_heads) const {
  const float scale = o_.scale != 0 ? o_.scale : 1 / std::sqrt(static_cast<float>(o_.d_rotated + o_.d_own));
  return {.num_heads = o_.num_heads,
          .num_kv_heads = kv_heads,
          .mask = std::move(mask),
          .scale = scale,
          .dropout = o_.dropout,
          .bf16 = out_.weight()->is_bf16() || out_.weight()->quantized};
}

Tensor LatentAttention::queries(Context& c, const Tensor& x, const SelfCall& call) const {
  const Tensor q = q_norm_ ? q_up_.forward(c, q_norm_->forward(c, q_down_.forward(c, x))) : q_.forward(c, x);
  return skipped(c, "positions") ? q : ops::rotary(c, q, call.query_rotations_.at(0), o_.num_heads);
}

Tensor LatentAttention::self(Context& c, const Tensor& given, const SelfCall& call, std::int64_t layer,
                             const ops::LinearOptions& out) const {
  const auto at = c.scope(name_);
  const ObservedPart part(c, "self");
  Tensor x = given;
  observe(c, "input", x);
  Tensor q = queries(c, x, call);
  observe(c, {"q", o_.num_heads}, q);
  const Tensor both = down_.forward(c, x);
  Tensor latent = norm_.forward(c, ops::dense(c, both.columns(0, o_.rank)));
  observe(c, "latent", latent);
  const Tensor part_of_all = both.columns(o_.rank, o_.rank + o_.d_rotated);
  const Tensor shared = skipped(c, "positions") ? ops::dense(c, part_of_all)
                                                : ops::rotary(c, part_of_all, call.rotations_.at(0), /*num_heads=*/1);
  if (call.cache_)
    call.cache_->store(c, layer, ops::concat_columns(c, std::array{shared, latent}), c.empty({x.size(0), 0}));
  Tensor y = !call.cache_ || call.alone_ ? of_these(c, q, shared, latent, call) : of_cache(c, q, call, layer);
  observe(c, {"heads", o_.num_heads}, y);
  return out_.forward(c, y, out);
}

// Attention among these tokens: keys and values are computed from the latents.
Tensor LatentAttention::of_these(Context& c, const Tensor& q, const Tensor& shared, const Tensor& latent,
                                 const SelfCall& call) const {
  const std::int64_t keys = o_.num_heads * o_.d_own, values = keys + o_.num_heads * o_.d_v;
  const Tensor made = up_.forward(c, latent);
  const ops::Mask& mask = call.mask_;
  Tensor k = ops::join_heads(c, shared, made.columns(0, keys), o_.num_heads), v = made.columns(keys, values);
  observe(c, {"k", o_.num_heads}, k);
  observe(c, {"v", o_.num_heads}, v);
  return ops::attention(c, {q, k, v}, call.spans_,
                        op(mask.sinks > 0 && mask.window > 0 ? call.with_sinks_ : mask, o_.num_heads));
}

// Attention over the cache: [r, c] are the keys and c the values of one head that all query heads share.
Tensor LatentAttention::of_cache(Context& c, const Tensor& q, const SelfCall& call, std::int64_t layer) const {
  const ops::Mask& mask = call.mask_;
  const Tensor& w = up_.weight()->value;
  const Tensor to_latents = ops::queries_to_latents(c, q, w, sizes());
  const std::int64_t end = o_.d_rotated + o_.rank;
  const ops::CachedKeysValues& kept = call.cache_->layer(layer);
  const Tensor y = ops::cached_attention(
      c, to_latents, {kept.keys, kept.keys.columns(o_.d_rotated, end), kept.key_scales, kept.key_scales},
      {call.slots_, call.lengths_, call.queries_, call.generated_}, op(mask, /*kv_heads=*/1));
  return ops::latents_to_values(c, y, w, sizes());
}

}  // namespace tril::nn
