// checkpoint: y = block(x); the tape keeps only x, and the block runs again in the backward pass
// [Chen et al. 2016, section 4]
#include "ops/sizes.h"

namespace tril::ops {

Tensor checkpoint(Context& c, const std::function<Tensor(Context&, const Tensor&)>& block, const Tensor& x) {
  Tape* const tape = c.tape();
  if (!tape) return block(c, x);
  tape->leave_out();
  const std::uint64_t position = c.rng().position();
  c.set_tape(nullptr);
  Tensor y;
  try {
    y = block(c, x);
  } catch (...) {
    c.set_tape(tape);
    throw;
  }
  c.set_tape(tape);

  // The gradients of the block's parameters may be wanted even if that of x is not. The tape cannot see those
  // parameters, so the node is kept if any gradient is wanted.
  tape->record_always("checkpoint", y, [block, x, position](Context& k, const Tensor& dy, Grads& d) {
    Tape inner, *const outer = k.tape();
    inner.watch_as(*outer);
    const std::uint64_t after = k.rng().position();
    k.rng().seek(position);  // the same dropout as in the forward pass
    k.set_tape(&inner);
    try {
      const Tensor again = block(k, x);
      if (inner.wants(again)) inner.backward(k, again, dy, d);
    } catch (...) {
      k.set_tape(outer);
      throw;
    }
    k.set_tape(outer);
    k.rng().seek(after);
  });
  return y;
}

}  // namespace tril::ops
