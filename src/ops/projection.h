// Shared by losses on logits = x W^T + b: the logits are computed for one chunk of rows at a time, and the chunk's
// gradients are added up at once, so that the [N, V] logits never exist.
//   dx = dl W    dW = dl^T x    db = sum over rows of dl,   dl [rows, V]: the gradient of a chunk's logits
//   x [N, D]   W [V, D]   b [V]
#pragma once

#include <string_view>

#include "ops/ops.h"

namespace tril::ops {

/// Rows of a chunk, by measurement: 64 to 256 rows of 10,000 logits are equally fast; more overflow the cache.
inline constexpr std::int64_t chunk_rows = 128;

/// Checks that x, W and b fit together.
void check_projection(const Projected& p);

/// logits [rows, V] = x[begin, +rows) W^T + b; b may be none.
void project(Context& c, const Projected& p, Tensor logits, std::int64_t begin);

/// Caps a chunk of logits in place. If `gradients` will overwrite the logits, returns a copy for uncap(); nothing
/// without a cap.
Tensor cap(Context& c, float softcap, Tensor logits, bool gradients);
/// Turns dl, the gradient of capped logits, into that of the logits: dl *= 1 - (capped / cap)^2. No change if
/// `capped` is none.
void uncap(Context& c, float softcap, const Tensor& capped, Tensor dl);

/// The gradients from chunks; each exists only if the tape wants it.
struct ProjectionGradients {
  Tensor dx, dw, db;
  bool begun = false;  ///< dw holds sums of chunks already, not uninitialised memory

  /// Allocates the wanted gradients of x, W and b.
  ProjectionGradients(Context& c, const Projected& p);
  /// True if any is wanted: otherwise the logits' gradient need not be computed.
  explicit operator bool() const { return dx || dw || db; }
};

/// Adds the contribution of dl [rows, V], the gradient of the logits of x[begin, +rows). Each row of x must come
/// exactly once.
void project_back(Context& c, const Projected& p, const Tensor& dl, std::int64_t begin, ProjectionGradients& gradients);

/// Records y [1], a loss of these logits whose gradients were computed in the forward pass: backward multiplies
/// them by dy.
void record_projected(Context& c, std::string_view name, const Tensor& y, const Projected& p,
                      const ProjectionGradients& gradients);

}  // namespace tril::ops
