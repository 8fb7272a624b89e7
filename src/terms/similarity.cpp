#include "terms/similarity.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "base/as_size.h"

namespace tril::terms {

std::int32_t edit_distance(std::span<const std::int32_t> a, std::span<const std::int32_t> b, std::int32_t most) {
  while (!a.empty() && !b.empty() && a.front() == b.front()) a = a.subspan(1), b = b.subspan(1);
  while (!a.empty() && !b.empty() && a.back() == b.back()) a = a.first(a.size() - 1), b = b.first(b.size() - 1);
  const auto n = static_cast<std::int32_t>(a.size()), m = static_cast<std::int32_t>(b.size());
  if (std::abs(n - m) > most) return most + 1;
  if (n == 0 || m == 0) return std::max(n, m);
  // Row i of the table, of which only the cells within `most` of the diagonal can be at most `most`.
  std::vector<std::int32_t> row(as_size(m) + 1);
  for (std::int32_t j = 0; j <= m; ++j) row[as_size(j)] = j;
  for (std::int32_t i = 1; i <= n; ++i) {
    const std::int32_t first = std::max(1, i - most), last = std::min(m, i + most);
    std::int32_t diagonal = row[as_size(first) - 1], least = most + 1;
    row[as_size(first) - 1] = first == 1 ? i : most + 1;
    for (std::int32_t j = first; j <= last; ++j) {
      const std::int32_t above = j == i + most ? most + 1 : row[as_size(j)];  // not in the last row's band
      const std::int32_t same = diagonal + (a[as_size(i) - 1] == b[as_size(j) - 1] ? 0 : 1);
      diagonal = row[as_size(j)];
      row[as_size(j)] = std::min({same, above + 1, row[as_size(j) - 1] + 1});
      least = std::min(least, row[as_size(j)]);
    }
    if (least > most) return most + 1;
  }
  return std::min(row[as_size(m)], most + 1);
}

}  // namespace tril::terms
