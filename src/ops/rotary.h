// Rotation of queries and keys by their positions.
#pragma once

#include "ops/ops.h"

namespace tril::ops {

/// The angles of one call's tokens.
struct Rotation {
  Tensor table;              ///< [positions, dim]: of each position dim/2 cosines, then dim/2 sines
  Tensor positions;          ///< [N] i32: rows of the table
  bool interleaved = false;  ///< pairs are (2i, 2i + 1) instead of (i, i + dim/2)

  explicit operator bool() const { return static_cast<bool>(table); }
};

/// x [N, num_heads * d], which may be columns of a wider matrix, each head's first dim <= d values rotated pair by pair
/// -> [N, num_heads * d]. Positions are those of the table: whoever makes both sees to it.
Tensor rotary(Context& c, const Tensor& x, const Rotation& rotation, std::int64_t num_heads);

}  // namespace tril::ops
