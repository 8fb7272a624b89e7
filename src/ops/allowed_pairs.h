// The pairs of a query and a key that an attention mask allows, for observers: a page can then tell a masked pair from one
// with weight 0.
#pragma once

#include "kern/attention.h"
#include "tensor/context.h"

namespace tril::ops {

/// u8 [rows, H, Tq, Tk] if all rows have equal lengths, else flat: 1 if query i may attend to key j. H is 1 unless the
/// mask differs by head. Of `a`, only the rows, the heads and the mask are read.
Tensor allowed_pairs(Context& c, const kern::Attention& a);

}  // namespace tril::ops
