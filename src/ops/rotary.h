// Rotation of queries and keys by their positions.
#pragma once

#include "ops/ops.h"

namespace tril::ops {

/// The angles of the tokens of one call.
struct Rotation {
  Tensor table;              ///< [positions, dim]: for each position dim/2 cosines, then dim/2 sines
  Tensor positions;          ///< [N] i32: rows of the table
  bool interleaved = false;  ///< pairs are (2i, 2i + 1) instead of (i, i + dim/2)

  explicit operator bool() const { return static_cast<bool>(table); }
};

/// Rotates the first dim <= d values of each head pair by pair: x [N, num_heads * d], which may be a slice of
/// columns -> [N, num_heads * d]. The caller ensures that all positions are in the table.
Tensor rotary(Context& c, const Tensor& x, const Rotation& rotation, std::int64_t num_heads);

}  // namespace tril::ops
