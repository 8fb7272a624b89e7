// How a team of threads divides an op. The rules depend on shapes alone, so that a schedule can be computed without a
// model (bench/cores/schedule.cpp). Each part computes what one thread would have computed there: the same bits.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kern/attention.h"
#include "tensor/context.h"

namespace tril::ops {

/// Columns of a weight's product that belong together in every precision: threads divide them by whole panels.
inline constexpr std::int64_t panel_columns = 32;

/// True if a product of a weight [out, in] is worth dividing among threads: a small one is read before another thread has
/// even started.
constexpr bool is_shared(int threads, std::int64_t out, std::int64_t in) {
  return threads > 1 && in * out >= 1 << 16;
}

/// How many panels threads divide.
constexpr std::int64_t panels_of(std::int64_t out) {
  return (out + panel_columns - 1) / panel_columns;
}

/// Values of an op that computes row by row from which on threads divide the rows: one thread needs some 20 microseconds
/// for fewer, and the others would hardly have begun.
inline constexpr std::int64_t values_worth_a_round = 1 << 16;

constexpr std::int64_t row_parts(int threads, std::int64_t rows, std::int64_t width) {
  return rows * width < values_worth_a_round ? 1 : std::min<std::int64_t>(threads, rows);
}

/// Calls work(first, end) for ranges of rows of this width that do not depend on each other.
template <class F>
void share_rows(const Context& c, std::int64_t rows, std::int64_t width, const F& work) {
  if (row_parts(c.threads(), rows, width) <= 1) return work(std::int64_t{0}, rows);
  c.share_out(rows, [&](int, std::int64_t first, std::int64_t end) { work(first, end); });
}

/// The same for values that do not depend on each other, in blocks of 256: whole vectors and cache lines.
template <class F>
void share_values(const Context& c, std::int64_t values, const F& work) {
  constexpr std::int64_t block = 256;
  share_rows(c, (values + block - 1) / block, block,
             [&](std::int64_t first, std::int64_t end) { work(first * block, std::min(values, end * block)); });
}

/// The fewest queries of the last of several blocks, far more than the kernel computes one by one. A row with more is a prompt.
inline constexpr std::int32_t least_queries = kern::queries_of_tile / 4;

/// The size of the next block, if `left` queries of a row are left: one of the kernel's tiles, so that blocks begin where
/// tiles begin. The last one has from `least_queries` to a tile and `least_queries` - 1, as the kernel would compute very few
/// in another way.
constexpr std::int32_t query_block(std::int32_t left) {
  return left < kern::queries_of_tile + least_queries ? left : kern::queries_of_tile;
}

/// Whether rows are divided into such blocks: not if the heads of the only row give each thread the same.
constexpr bool divides_queries(std::int64_t threads, std::int64_t rows, std::int64_t heads) {
  return rows > 1 || heads % threads != 0;
}

/// How threads divide the heads of attention to a cache: units of some query heads that share keys.
struct KeyHeadParts {
  std::int64_t units_of_row, heads_of_unit;
};

/// @param rows  after the division of their queries
/// @param has_prompts  whether a row has many queries. Then several threads may well copy the same keys, and units are small,
///   so that parts come out even. Otherwise a unit is all query heads of a key head, unless threads would have none.
constexpr KeyHeadParts key_head_parts(std::int64_t threads, std::int64_t rows, std::int64_t heads,
                                      std::int64_t kv_heads, bool has_prompts) {
  const std::int64_t group = heads / kv_heads;
  std::int64_t split = 1;
  for (std::int64_t s = 2; s <= group; ++s) {
    const bool even = rows == 1 && kv_heads * split % threads == 0;
    const bool wanted = has_prompts ? !even && rows * kv_heads * split < 4 * threads : rows * kv_heads * s <= threads;
    if (group % s == 0 && wanted) split = s;
  }
  return {kv_heads * split, group / split};
}

}  // namespace tril::ops
