// checkpoint: y = block(x); the tape keeps x alone, and the block runs once more on the way back
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

  // Whoever computes y may want the gradients of its parameters even where nobody wants x's: the tape cannot see those,
  // so the node is kept whenever anything at all is wanted.
  tape->record_always("checkpoint", y, [block, x, position](Context& k, const Tensor& dy, Grads& d) {
    Tape inner, *const outer = k.tape();
    inner.watch_as(*outer);
    const std::uint64_t after = k.rng().position();
    k.rng().seek(position);  // the same dropout as the first time
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
