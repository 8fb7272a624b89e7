// Multi-head latent attention in decode steps: queries are projected onto the latents, so no keys and values are computed.
#pragma once

#include "ops/ops.h"

namespace tril::ops {

/// Of each head's query, `rotated` values are rotated and `own` are not. The matrix [heads * (own + d_v), rank] projects a
/// latent to keys and values; the rows for all heads' keys come first.
struct LatentHeads {
  std::int64_t heads = 1, rotated = 0, own = 0, d_v = 0, rank = 0;
};

/// q_h' = [r_h, W_h^T u_h] of each head's query q_h = [r_h, u_h], W_h [own, rank] its rows for keys: then q_h' . [r, c] =
/// r_h . r + u_h . W_h c for a latent c [DeepSeek-V2, 2024, section 2.1.3]. q [N, heads * (rotated + own)] -> [N, heads *
/// (rotated + rank)]. No gradient.
Tensor queries_to_latents(Context& c, const Tensor& q, const Tensor& w, const LatentHeads& sizes);

/// V_h y_h of each head's weighted latents y_h, V_h [d_v, rank] its rows for values: y [N, heads * rank] -> [N, heads *
/// d_v]. No gradient.
Tensor latents_to_values(Context& c, const Tensor& y, const Tensor& w, const LatentHeads& sizes);

}  // namespace tril::ops
