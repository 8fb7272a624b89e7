// The recurrence of an SSRU over the tokens of one row.
#pragma once

#include <cstddef>

namespace tril::kern {

/// c_t = s_t c_{t-1} + (1 - s_t) x_t,  y_t = max(c_t, 0),  s_t = 1 / (1 + e^-f_t)  [Kim et al. 2019, eq. 1-3]
/// for tokens t of one row and each of `width` columns by itself.
struct Ssru {
  const float *x = nullptr, *f = nullptr;  ///< [tokens, width]
  std::size_t x_stride = 0, f_stride = 0;
  std::size_t tokens = 0, width = 0;
  float* state = nullptr;  ///< [width]: c before the first token, replaced by c of the last; null: c begins at zero
  float* cells = nullptr;  ///< [tokens, width] gets c, dense; null: not wanted
  float* out = nullptr;    ///< [tokens, width] gets y, dense
};

/// From dy to dx and df, all [tokens, width] and dense, for a row that began at zero. With dc_t = dy_t [c_t > 0] + s_{t+1} dc_{t+1}:
/// dx_t = (1 - s_t) dc_t,  df_t = s_t (1 - s_t) (c_{t-1} - x_t) dc_t.
struct SsruGradient {
  Ssru forward;  ///< x, f and cells, as they were; state and out are not used
  const float* dy = nullptr;
  float *dx = nullptr, *df = nullptr;
};

}  // namespace tril::kern
