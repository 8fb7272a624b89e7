// Multi-head latent attention: keys and values of all heads are computed from one small latent of each token. The cache
// keeps only the latents [DeepSeek-V2, 2024, section 2.1].
#pragma once

#include <optional>
#include <string>

#include "nn/attention.h"
#include "ops/latent_heads.h"

namespace tril::nn {

/// A token x has the latent c = norm(x D^T) and a part of its keys that all heads share, r = rotate(x R^T). Head h has
/// keys [r, W_h c], values V_h c, and queries [rotate(r_h), u_h], projected from x or from a latent of their own,
/// norm(x Q^T).
///
/// The cache keeps [r, c]. For tokens that begin their rows, keys and values are computed from c. Later tokens project
/// their queries onto c instead (ops/latent_heads.h), so a decode step reads a latent once for all heads. Both ways read
/// the matrix of keys and values, so it stays in float32 in every precision.
class LatentAttention {
 public:
  struct Options {
    std::int64_t d_model = 0, num_heads = 1;
    std::int64_t d_rotated = 0, d_own = 0;  ///< of each head's queries and keys: d_k = d_rotated + d_own
    std::int64_t d_v = 0;                   ///< of each head's values
    std::int64_t rank = 0;                  ///< of the latent
    std::int64_t query_rank = 0;            ///< of the queries' latent; 0: queries are projected from x
    bool bias = false;                      ///< of the projections to latents, and of the output
    float dropout = 0;                      ///< of the weights
    float scale = 0;                        ///< of scores; 0: 1 / sqrt(d_k)
    float norm_eps = 1e-6f;
  };

  LatentAttention() = default;
  /// Declares its weights under `prefix`, by DeepSeek's names. The rotated part of each head comes first. In the matrix of
  /// keys and values, all heads' keys come first.
  LatentAttention(Parameters& p, const std::string& prefix, const Options& options);

  /// Self-attention of tokens x [N, d_model] (and of those in the cache, at layer number `layer`), rotated by the first of the
  /// call's rotary positions -> [N, d_model].
  Tensor self(Context& c, const Tensor& x, const SelfCall& call, std::int64_t layer,
              const ops::LinearOptions& out = {}) const;
  /// The cache layout that it needs: values are a part of the keys.
  KvCache::Layer kept() const { return {.key_size = o_.d_rotated + o_.rank, .value_size = 0, .num_kv_heads = 1}; }

 private:
  Tensor queries(Context& c, const Tensor& x, const SelfCall& call) const;
  Tensor of_these(Context& c, const Tensor& q, const Tensor& shared, const Tensor& latent, const SelfCall& call) const;
  Tensor of_cache(Context& c, const Tensor& q, const SelfCall& call, std::int64_t layer) const;
  ops::AttentionOptions op(ops::Mask mask, std::int64_t kv_heads) const;
  ops::LatentHeads sizes() const { return {o_.num_heads, o_.d_rotated, o_.d_own, o_.d_v, o_.rank}; }

  Options o_;
  std::string name_;
  Linear q_, q_down_, q_up_, down_, up_, out_;
  std::optional<Norm> q_norm_;
  Norm norm_;
};

}  // namespace tril::nn
