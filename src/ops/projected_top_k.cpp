// projected_top_k: the k largest of x W^T + b by row, and log(sum(exp)) of the row            no gradient
//   x [N, D]   W [V, D] quantised   b [V]
#include "ops/product.h"
#include "ops/sizes.h"

namespace tril::ops {

Best projected_top_k(Context& c, const Tensor& x, const Weight& w, const Tensor& b, std::int64_t k,
                     std::span<const std::vector<std::int32_t>> forbidden, bool log_sums) {
  const auto [N, D] = x.dims<2>("projected_top_k: x");
  check(static_cast<bool>(w.quantized) && D == w.in(), "projected_top_k", "x {} and W {} do not agree", x.shape(),
        w.shape());
  check(k >= 1, "projected_top_k", "expected k of at least 1, got {}", k);
  check(forbidden.empty() || static_cast<std::int64_t>(forbidden.size()) == N, "projected_top_k",
        "{} lists of forbidden ids for {} rows", forbidden.size(), N);
  if (b) check_shape(b, {w.out()}, "projected_top_k: b");

  std::vector<const std::int32_t*> lists;
  std::vector<std::int32_t> counts;
  for (const std::vector<std::int32_t>& ids : forbidden) {
    lists.push_back(ids.data());
    counts.push_back(static_cast<std::int32_t>(ids.size()));
  }
  const Best best{c.empty({N, k}), c.empty({N, k}, DType::i32), log_sums ? c.empty({N}) : Tensor()};
  const auto time = c.timed("projected_top_k", "forward", [&] {
    return product_work(true, product_flops(N, w.out(), D), bytes_of(x, operand_of(w), b));
  });
  const ProductSpace space(c, w, N, false);
  for (std::int64_t i = 0; i < N; i += block_rows) {
    const std::int64_t rows = std::min(block_rows, N - i);
    const std::size_t first = z(i);
    c.kernels().quantized_top_k({.m = z(rows),
                                 .b = w.quantized.right(),
                                 .a = x.data<float>() + i * x.row_stride(),
                                 .a_stride = z(x.row_stride()),
                                 .bias = b ? b.data<float>() : nullptr,
                                 .k = z(k),
                                 .forbidden = lists.empty() ? nullptr : lists.data() + first,
                                 .forbidden_counts = lists.empty() ? nullptr : counts.data() + first,
                                 .values = best.values.data<float>() + i * k,
                                 .indices = best.ids.data<std::int32_t>() + i * k,
                                 .log_sums = log_sums ? best.log_sums.data<float>() + i : nullptr,
                                 .scratch = space.operand.data<std::uint8_t>()});
  }
  return best;
}

}  // namespace tril::ops
