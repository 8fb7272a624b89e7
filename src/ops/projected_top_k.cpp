// projected_top_k: the k largest of x W^T + b by row, and log(sum(exp)) of the row            no gradient
//   x [N, D]   W [V, D] quantised   b [V]
#include <cmath>

#include "kern/quantized_top_k.h"
#include "ops/product.h"
#include "ops/sizes.h"

namespace tril::ops {
namespace {

Best empty_best(const Context& c, std::int64_t rows, std::int64_t k, bool log_sums) {
  return {c.empty({rows, k}), c.empty({rows, k}, DType::i32), log_sums ? c.empty({rows}) : Tensor()};
}

// Merges row i of the parts' sorted results: ties go to the earlier part, whose ids are lower.
void merge_row(const std::vector<Best>& parts, std::int64_t i, std::int64_t k, Best& into) {
  std::vector<std::int64_t> taken(parts.size(), 0);
  const auto next = [&](std::size_t p) { return parts[p].values.data<float>()[i * k + taken[p]]; };
  for (std::int64_t j = 0; j < k; ++j) {
    std::size_t from = 0;
    for (std::size_t p = 1; p < parts.size(); ++p)
      if (!(next(p) <= next(from))) from = p;  // NaN is taken, so that it stays visible
    into.values.data<float>()[i * k + j] = next(from);
    into.ids.data<std::int32_t>()[i * k + j] = parts[from].ids.data<std::int32_t>()[i * k + taken[from]];
    taken[from] += taken[from] + 1 < k ? 1 : 0;
  }
  if (!into.log_sums) return;
  float most = -INFINITY, sum = 0;
  for (const Best& p : parts) most = std::max(p.log_sums.data<float>()[i], most);
  for (const Best& p : parts) {
    const float part = p.log_sums.data<float>()[i];
    if (part != -INFINITY) sum += std::exp(part - most);  // NaN is included
  }
  into.log_sums.data<float>()[i] = most + std::log(sum);  // -inf if all ids are forbidden
}

}  // namespace

Best projected_top_k(Context& c, const Projected& p, std::int64_t k,
                     std::span<const std::vector<std::int32_t>> forbidden, bool log_sums) {
  const Tensor &x = p.x, &b = p.b;
  const Weight& w = p.w;
  const auto [N, D] = x.dims<2>("projected_top_k: x");
  check(static_cast<bool>(w.quantized) && D == w.in(), "projected_top_k", "x {} and W {} do not agree", x.shape(),
        w.shape);
  check(k >= 1, "projected_top_k", "expected k of at least 1, got {}", k);
  check(forbidden.empty() || std::ssize(forbidden) == N, "projected_top_k", "{} lists of forbidden ids for {} rows",
        forbidden.size(), N);
  if (b) check_shape(b, {w.out()}, "projected_top_k: b");

  std::vector<const std::int32_t*> lists;
  std::vector<std::int32_t> counts;
  for (const std::vector<std::int32_t>& ids : forbidden) {
    lists.push_back(ids.data());
    counts.push_back(static_cast<std::int32_t>(ids.size()));
  }
  Best best = empty_best(c, N, k, log_sums);
  const auto time = c.timed("projected_top_k", "forward", [&, N = N, D = D] {
    return product_work(true, product_flops(N, w.out(), D), bytes_of(x, operand_of(w), b));
  });
  ProductSpace space(c, w, N, false);
  const auto columns = [&, N = N](int member, std::int64_t first, std::int64_t count, Best& found) {
    for (std::int64_t i = 0; i < N; i += block_rows) {
      const std::size_t row = z(i);
      c.kernels().quantized_top_k({.m = z(std::min(block_rows, N - i)),
                                   .b = w.quantized.right().columns(z(first), z(count)),
                                   .a = x.data<float>() + i * x.row_stride(),
                                   .a_stride = z(x.row_stride()),
                                   .bias = b ? b.data<float>() + first : nullptr,
                                   .first_id = static_cast<std::int32_t>(first),
                                   .k = z(k),
                                   .forbidden = lists.empty() ? nullptr : lists.data() + row,
                                   .forbidden_counts = lists.empty() ? nullptr : counts.data() + row,
                                   .values = found.values.data<float>() + i * k,
                                   .indices = found.ids.data<std::int32_t>() + i * k,
                                   .log_sums = log_sums ? found.log_sums.data<float>() + i : nullptr,
                                   .scratch = space.operand_of<std::uint8_t>(member)});
    }
  };
  const std::int64_t panels = panels_of(w.out());
  if (!is_shared(c, w) || panels < c.threads()) {
    columns(0, 0, w.out(), best);
    return best;
  }
  std::vector<Best> parts;  // one per thread, of ascending column ranges
  for (int member = 0; member < c.threads(); ++member) parts.push_back(empty_best(c, N, k, log_sums));
  c.share_out(panels, [&](int member, std::int64_t first, std::int64_t last) {
    const std::int64_t begin = first * panel_columns, end = std::min(w.out(), last * panel_columns);
    columns(member, begin, end - begin, parts[z(member)]);
  });
  for (std::int64_t i = 0; i < N; ++i) merge_row(parts, i, k, best);
  return best;
}

}  // namespace tril::ops
