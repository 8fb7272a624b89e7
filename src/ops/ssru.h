// The recurrence of the Simpler Simple Recurrent Unit.
#pragma once

#include "base/rows.h"
#include "ops/ops.h"
#include "ops/states.h"

namespace tril::ops {

/// c_t = s(f_t) c_{t-1} + (1 - s(f_t)) x_t,  y_t = max(c_t, 0), over the tokens of each row, s being the logistic function
/// [Kim et al. 2019, "From Research to Production and Back", eq. 1-3]. x, f [N, D] -> [N, D].
/// @param rows  cover all tokens, in order
/// @param states  c of each row [.., D] before its first token, replaced by c after its last. None: rows begin at zero, and
///   a tape records the gradient
Tensor ssru(Context& c, const Tensor& x, const Tensor& f, const Rows& rows, const States& states = {});

}  // namespace tril::ops
