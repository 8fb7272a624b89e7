// What losses on logits = x W^T + b share: the logits are made for one chunk of rows at a time, and what a chunk's
// gradient gives is added up at once, so that the [N, V] logits never exist.
//   dx = dl W    dW = dl^T x    db = sum over rows of dl,   dl [rows, V]: the gradient of a chunk's logits
//   x [N, D]   W [V, D]   b [V]
#pragma once

#include <string_view>

#include "ops/ops.h"

namespace tril::ops {

/// Rows of a chunk, by measurement: 64 to 256 rows of 10,000 logits are alike, beyond that the cache overflows.
inline constexpr std::int64_t chunk_rows = 128;

/// Checks what makes the logits against each other.
void check_projection(const Projected& p);

/// logits [rows, V] = x[begin, +rows) W^T + b; b may be none.
void project(Context& c, const Projected& p, Tensor logits, std::int64_t begin);

/// Caps a chunk of logits in place. Returns a copy where `gradients` take the logits' place, for uncap() to find; nothing
/// without a cap.
Tensor cap(Context& c, float softcap, Tensor logits, bool gradients);
/// dl, the gradient of capped logits, becomes that of the logits: dl *= 1 - (capped / cap)^2. `capped` none: it is.
void uncap(Context& c, float softcap, const Tensor& capped, Tensor dl);

/// The gradients that come out of chunks; each is there only where the tape wants it.
struct ProjectionGradients {
  Tensor dx, dw, db;
  bool begun = false;  ///< dw holds the sum of some chunks, not yet uninitialised memory

  /// Memory for what is wanted of x, W and b.
  ProjectionGradients(Context& c, const Projected& p);
  /// Whether any is wanted: otherwise the logits' gradient need not be made.
  explicit operator bool() const { return dx || dw || db; }
};

/// Takes in the gradient dl [rows, V] of the logits of x[begin, +rows). Each row of x is to come exactly once.
void project_back(Context& c, const Projected& p, const Tensor& dl, std::int64_t begin, ProjectionGradients& gradients);

/// Records y [1] = a loss of these logits, whose gradients were made in the forward pass: backward multiplies them by
/// dy.
void record_projected(Context& c, std::string_view name, const Tensor& y, const Projected& p,
                      const ProjectionGradients& gradients);

}  // namespace tril::ops
