// The scores and weights of attention for an observer. The kernels never hold them: they compute them tile by tile. So they are
// computed here a second time, on the host, and only where they are wanted.
#pragma once

#include <optional>

#include "kern/attention.h"
#include "ops/ops.h"

namespace tril::ops {

/// Shows these values, each if it is wanted: `softcap` [1, 1] and `bias` [H, Tq, Tk], if the attention has them; `scores` [H, Tq, Tk]
/// = scale q k^T, with soft cap and bias; `mask` u8 [1 or H, Tq, Tk], 1 = may attend; `masked_scores`; `weights`, their softmax. If
/// the observer replaced one of them, the rest follows from it, and so does the result [Nq, H d_v]. Otherwise nothing: the kernel's
/// result stands. Several rows of equal lengths have one more dimension in front; of other rows the values are flat, row after row.
std::optional<Tensor> observed_attention(Context& c, const QueriesKeysValues& in, const kern::Attention& a);
/// Likewise, for callers that do not call attention().
std::optional<Tensor> observed_attention(Context& c, const QueriesKeysValues& in, const Spans& spans,
                                         const AttentionOptions& o);
/// The same for linear attention, which has no scores: `mask`, and `weights`, the products phi(q) phi(k) of the allowed pairs divided
/// by their sum.
std::optional<Tensor> observed_linear_attention(Context& c, const QueriesKeysValues& in,
                                                const kern::LinearAttention& a);

}  // namespace tril::ops
