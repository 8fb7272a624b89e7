// projected_top_k: the k largest of x W^T + b by row, and log(sum(exp)) of the row            no gradient
//   x [N, D]   W [V, D]   b [V]; parts of the rows may have output layers of their own
// With quantised weights the product is never in memory.
#include <algorithm>
#include <cmath>
#include <utility>

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

// The forbidden ids of rows, as columns of a part's W.
class ForbiddenColumns {
 public:
  ForbiddenColumns(std::span<const std::vector<std::int32_t>> forbidden, std::span<const std::int32_t> ids) {
    for (const std::vector<std::int32_t>& of_row : forbidden) {
      const std::size_t before = columns_.size();
      for (const std::int32_t id : of_row) {
        const auto at = std::lower_bound(ids.begin(), ids.end(), id);
        if (ids.empty())
          columns_.push_back(id);
        else if (at != ids.end() && *at == id)
          columns_.push_back(static_cast<std::int32_t>(at - ids.begin()));
      }
      counts_.push_back(static_cast<std::int32_t>(columns_.size() - before));
    }
    const std::int32_t* at = columns_.data();
    for (const std::int32_t count : counts_) lists_.push_back(std::exchange(at, at + count));
  }
  std::span<const std::int32_t> of(std::size_t row) const {
    if (lists_.empty()) return {};
    return {lists_[row], z(counts_[row])};
  }
  const std::int32_t* const* lists(std::size_t row) const { return lists_.empty() ? nullptr : lists_.data() + row; }
  const std::int32_t* counts(std::size_t row) const { return counts_.empty() ? nullptr : counts_.data() + row; }

 private:
  std::vector<std::int32_t> columns_, counts_;
  std::vector<const std::int32_t*> lists_;
};

// best_of_part for a weight that is not quantised: of the product in memory.
void best_of_product(Context& c, const Tensor& x, const OutputPart& part, const ForbiddenColumns& forbidden,
                     Best best) {
  const std::int64_t N = x.size(0), V = part.w.out(), k = best.values.size(1), some = std::min(k, V);
  Tensor logits = linear(c, x, part.w, part.b), sums = c.empty({N});
  Tensor values = c.empty({N, some}), ids = c.empty({N, some}, DType::i32);
  c.kernels().log_sum_exp(logits.data<float>(), sums.data<float>(), z(N), z(V));
  for (std::int64_t i = 0; i < N; ++i)
    for (const std::int32_t column : forbidden.of(z(i))) logits.data<float>()[i * V + column] = -INFINITY;
  c.kernels().top_k(logits.data<float>(), z(N), z(V), z(some), values.data<float>(), ids.data<std::int32_t>());
  for (std::int64_t i = 0; i < N; ++i) {
    const float sum = sums.data<float>()[i];
    if (best.log_sums) best.log_sums.data<float>()[i] = sum;
    for (std::int64_t j = 0; j < k; ++j) {
      float value = j < some ? values.data<float>()[i * some + j] : -INFINITY;
      if (std::isnan(sum)) value = sum;  // the kernel ranks NaN last; it stays visible
      best.values.data<float>()[i * k + j] = value;
      best.ids.data<std::int32_t>()[i * k + j] = value == -INFINITY ? -1 : ids.data<std::int32_t>()[i * some + j];
    }
  }
}

// The best columns of a part's rows x; ids are columns of W.
void best_of_part(Context& c, const Tensor& x, const OutputPart& part, const ForbiddenColumns& forbidden, Best best) {
  const auto [N, D] = x.dims<2>("projected_top_k: x");
  const Weight& w = part.w;
  if (!w.quantized) return best_of_product(c, x, part, forbidden, std::move(best));
  const Tensor& b = part.b;
  const std::int64_t k = best.values.size(1);
  const bool log_sums = static_cast<bool>(best.log_sums);
  ProductSpace space(c, w, N, false);
  const auto columns = [&, N = N](int member, std::int64_t first, std::int64_t count, Best& found) {
    for (std::int64_t i = 0; i < N; i += block_rows)
      c.kernels().quantized_top_k({.m = z(std::min(block_rows, N - i)),
                                   .b = w.quantized.right().columns(z(first), z(count)),
                                   .a = x.data<float>() + i * x.row_stride(),
                                   .a_stride = z(x.row_stride()),
                                   .bias = b ? b.data<float>() + first : nullptr,
                                   .first_id = static_cast<std::int32_t>(first),
                                   .k = z(k),
                                   .forbidden = forbidden.lists(z(i)),
                                   .forbidden_counts = forbidden.counts(z(i)),
                                   .values = found.values.data<float>() + i * k,
                                   .indices = found.ids.data<std::int32_t>() + i * k,
                                   .log_sums = log_sums ? found.log_sums.data<float>() + i : nullptr,
                                   .scratch = space.operand_of<std::uint8_t>(member)});
  };
  const std::int64_t panels = panels_of(w.out());
  if (!is_shared(c, w) || panels < c.threads()) return columns(0, 0, w.out(), best);
  std::vector<Best> found;  // one per thread, of ascending column ranges
  for (int member = 0; member < c.threads(); ++member) found.push_back(empty_best(c, N, k, log_sums));
  c.share_out(panels, [&](int member, std::int64_t first, std::int64_t last) {
    const std::int64_t begin = first * panel_columns, end = std::min(w.out(), last * panel_columns);
    columns(member, begin, end - begin, found[z(member)]);
  });
  for (std::int64_t i = 0; i < N; ++i) merge_row(found, i, k, best);
}

void check_part(const Tensor& x, const OutputPart& part) {
  const Weight& w = part.w;
  check(x.size(1) == w.in(), "projected_top_k", "x {} and W {} do not agree", x.shape(), w.shape);
  check(part.ids.empty() || std::ssize(part.ids) == w.out(), "projected_top_k", "{} ids for W {}", part.ids.size(),
        w.shape);
  if (part.b) check_shape(part.b, {w.out()}, "projected_top_k: b");
}

}  // namespace

Best projected_top_k(Context& c, const Tensor& x, std::span<const OutputPart> parts, std::int64_t k,
                     std::span<const std::vector<std::int32_t>> forbidden, bool log_sums) {
  const auto [N, D] = x.dims<2>("projected_top_k: x");
  check(k >= 1, "projected_top_k", "expected k of at least 1, got {}", k);
  check(forbidden.empty() || std::ssize(forbidden) == N, "projected_top_k", "{} lists of forbidden ids for {} rows",
        forbidden.size(), N);
  std::int64_t rows = 0;
  for (const OutputPart& part : parts) check_part(x, part), rows += part.rows;
  check(rows == N, "projected_top_k", "output layers for {} rows of {}", rows, N);
  const auto time = c.timed("projected_top_k", "forward", [&, D = D] {
    Work work;
    for (const OutputPart& part : parts)
      work += product_work(true, product_flops(part.rows, part.w.out(), D), bytes_of(operand_of(part.w), part.b));
    return work += Work{.bytes = bytes_of(x)};
  });
  Best best = empty_best(c, N, k, log_sums);
  std::int64_t row = 0;
  for (const OutputPart& part : parts) {
    const std::int64_t end = row + part.rows;
    Best of_part{best.values.rows(row, end), best.ids.rows(row, end),
                 log_sums ? best.log_sums.rows(row, end) : Tensor()};
    const ForbiddenColumns columns(forbidden.empty() ? forbidden : forbidden.subspan(z(row), z(part.rows)), part.ids);
    best_of_part(c, x.rows(row, end), part, columns, of_part);
    std::int32_t* const ids = of_part.ids.data<std::int32_t>();
    for (std::int64_t i = 0; !part.ids.empty() && i < part.rows * k; ++i)
      if (ids[i] >= 0) ids[i] = part.ids[z(ids[i])];
    row = end;
  }
  return best;
}

}  // namespace tril::ops
