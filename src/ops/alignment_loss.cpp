// alignment_loss: the distance of attention weights w from wanted weights a. For each query t, a sums to 1, or is
// zero if nothing is wanted, and such queries do not count; e = 1e-6
//   ce:   L = -1/n sum_t sum_s a_ts log(w_ts + e)       dL/dw = -1/n a / (w + e)          [Chen et al. 2016, eq. 4;
//                                                                                         Garg et al. 2019, eq. 3]
//   mse:  L = 1/(2n) sum_t sum_s (w_ts - a_ts)^2        dL/dw = 1/n (w - a)               [Liu et al. 2016, eq. 4]
//   mult: L = -1/n sum_t log(sum_s a_ts w_ts + e)       dL/dw = -1/n a / (sum_s a w + e)  [after Liu et al. 2016,
//                                                                     who take one logarithm of the sentence]
// w, a: [q_len, k_len] of each row, row after row
// Saves dw, computed in the same pass.
#include "ops/loss.h"

namespace tril::ops {

Tensor alignment_loss(Context& c, const Tensor& w, const Tensor& wanted, const Spans& spans,
                      const AlignmentLossOptions& o) {
  std::int64_t total = 0, queries = 0;
  for (const kern::RowSpan& s : *spans) total += static_cast<std::int64_t>(s.q_len) * s.k_len, queries += s.q_len;
  check_shape(w, {total}, "alignment_loss: weights");
  check_shape(wanted, {total}, "alignment_loss: wanted");
  check(o.normalizer > 0, "alignment_loss", "normalizer {} is not above 0", o.normalizer);

  Tensor losses = c.empty({queries});
  const bool keeps = c.tape() && c.tape()->wants(w);
  Tensor dw = keeps ? c.empty({total}) : Tensor();
  const auto time = c.timed("alignment_loss", "forward", [&] { return Work{.bytes = bytes_of(w, wanted, dw)}; });
  c.kernels().alignment_loss(o.cost, spans->data(), spans->size(), w.data<float>(), wanted.data<float>(),
                             static_cast<float>(1 / o.normalizer), losses.data<float>(),
                             keeps ? dw.data<float>() : nullptr);
  Tensor y = sum_of_losses(c, losses, o.normalizer);
  if (keeps)
    c.tape()->record("alignment_loss", {&w}, y, [w, dw](Context& x, const Tensor& dy, Grads& d) {
      scale_by(x, dw, dy);
      pass_on(x, dw, d.into(x, w));
    });
  return y;
}

}  // namespace tril::ops
