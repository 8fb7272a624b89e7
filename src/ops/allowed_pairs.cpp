#include "ops/allowed_pairs.h"

#include <cstdlib>
#include <span>
#include <vector>

#include "ops/sizes.h"

namespace tril::ops {
namespace {

// A query and a key of a row, for one head.
struct Pair {
  std::size_t row, head;
  std::int32_t query, key;
};

// As kern::MaskKind says. The last query of a row sees its last key.
bool may_attend(const kern::Attention& a, const Pair& p) {
  const kern::RowSpan& s = a.rows[p.row];
  const std::int32_t position = p.query + s.k_len - s.q_len;
  switch (a.mask) {
    case kern::MaskKind::full:
      return true;
    case kern::MaskKind::causal:
      return p.key <= position && (a.window == 0 || p.key > position - a.window);
    case kern::MaskKind::near:
      return std::abs(p.key - position) <= a.window;
    case kern::MaskKind::explicit01:
      break;
  }
  return a.allow[p.row * a.allow_row_stride + p.head * a.allow_head_stride + z(p.query) * a.allow_query_stride +
                 z(p.key)] != 0;
}

}  // namespace

Tensor allowed_pairs(Context& c, const kern::Attention& a) {
  const std::span<const kern::RowSpan> rows(a.rows, a.num_rows);
  const bool by_head = a.mask == kern::MaskKind::explicit01 && a.allow_head_stride > 0;
  const std::size_t heads = by_head ? a.heads : 1;
  std::vector<std::uint8_t> allowed;
  for (std::size_t r = 0; r < rows.size(); ++r)
    for (std::size_t h = 0; h < heads; ++h)
      for (std::int32_t i = 0; i < rows[r].q_len; ++i)
        for (std::int32_t k = 0; k < rows[r].k_len; ++k) allowed.push_back(may_attend(a, {r, h, i, k}) ? 1 : 0);
  return c.upload<std::uint8_t>(allowed, shape_of_weights(rows, static_cast<std::int64_t>(heads)));
}

}  // namespace tril::ops
