// Compact operands on every table: they keep every bit, and products with them have the bits of those with packed ones.
#include "kern/compact_bf16.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string_view>

#include "base/half.h"
#include "kern/gemm_bf16.h"
#include "kern/support.h"

namespace tril::kern::compact_bf16_test {
namespace {

class CompactBf16 : public KernelTest {};

float of_bits(std::uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

/// What the values of a weight are like, by their number.
struct Kind {
  std::string_view name;
  std::function<float(RandomSequence&, std::size_t)> value;
};
const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all{
      {"normal", [](RandomSequence& r, std::size_t) { return 0.02f * static_cast<float>(r.normal()); }},
      {"zero", [](RandomSequence&, std::size_t) { return 0.0f; }},
      {"pruned", [](RandomSequence& r, std::size_t i) { return i % 3 ? 0.0f : static_cast<float>(r.normal()); }},
      {"16 exponents of one sign",
       [](RandomSequence& r, std::size_t i) {
         return std::ldexp(1.0f + static_cast<float>(r.uniform()) / 2, static_cast<int>(i % 16) * 7);
       }},
      {"any bits", [](RandomSequence& r, std::size_t) { return of_bits(r.bits()); }},
      {"whole tiles beside others",
       [](RandomSequence& r, std::size_t i) {
         return static_cast<float>(r.normal()) * (i / 32 % 4 ? 1.0f : std::ldexp(1.0f, static_cast<int>(i % 40)));
       }},
      {"infinite, and not a number",
       [](RandomSequence&, std::size_t i) { return i % 2 ? -std::numeric_limits<float>::infinity() : std::nanf(""); }},
  };
  return all;
}

const Kind& kind_of(std::string_view name) {
  const auto found = std::ranges::find(kinds(), name, &Kind::name);
  if (found == kinds().end()) throw std::out_of_range(std::string(name));
  return *found;
}

std::vector<float> values_of(const Kind& kind, std::size_t count) {
  RandomSequence random(7, 1);
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = kind.value(random, i);
  return values;
}

/// A weight [n, k] in both forms; memory ends at inaccessible pages.
struct Weight {
  std::size_t n, k;
  std::vector<std::uint16_t> packed;
  Guarded<std::uint8_t> tiles, tables, rest;

  Weight(const Kernels& kernels, const std::vector<float>& values, std::size_t rows, std::size_t columns)
      : n(rows),
        k(columns),
        packed(packed_right_values(k, n)),
        tiles(compact_tiles(k, n) * compact_tile_bytes),
        tables(compact_tiles(k, n) * compact_table_bytes),
        rest(compact_tiles(k, n) * compact_rest_bytes) {
    kernels.pack_right({.b = values.data(), .stride = k, .k = k, .n = n, .transposed = true, .packed = packed.data()});
    kernels.pack_compact(
        {.b = values.data(), .stride = k, .k = k, .n = n, .tiles = tiles, .tables = tables, .rest = rest});
  }
  CompactRight compact() const { return {tiles.data(), tables.data(), rest.data()}; }
  bool intact() const { return tiles.intact() && tables.intact() && rest.intact(); }
  std::size_t whole_tiles() const {
    std::size_t count = 0;
    for (std::size_t i = 0; i < tables.size(); i += compact_table_bytes)
      count += tables[i] == 255 && tables[i + 1] == 255;
    return count;
  }
};

/// A tile, as compact_bf16.h describes it.
std::vector<std::uint16_t> tile_of(const Weight& w, std::size_t tile) {
  const std::uint8_t *const bytes = w.tiles.data() + tile * compact_tile_bytes, *const table =
                                                                                    w.tables.data() +
                                                                                    tile * compact_table_bytes;
  std::vector<std::uint16_t> values(tile_values);
  if (table[0] == 255 && table[1] == 255) {
    std::memcpy(values.data(), bytes, compact_tile_bytes);
    std::memcpy(values.data() + compact_tile_bytes / 2, w.rest.data() + tile * compact_rest_bytes, compact_rest_bytes);
    return values;
  }
  for (std::size_t row = 0; row < 16; ++row)
    for (std::size_t i = 0; i < 32; ++i) {
      const std::uint8_t* const group = bytes + row / 4 * 192;
      const std::size_t place = i / 8 * 16 + row % 2 * 8 + i % 8;
      const std::size_t code = row % 4 < 2 ? group[place] & 15U : group[place] >> 4U;
      const std::uint8_t lower = group[64 + row % 4 / 2 * 64 + place];
      values[row * 32 + i] = static_cast<std::uint16_t>(table[code] << 8U | lower);
    }
  return values;
}

TEST_P(CompactBf16, KeepsEveryBit) {
  for (const Kind& kind : kinds())
    for (const auto& [n, depth] :
         std::vector<std::pair<std::size_t, std::size_t>>{{1, 1}, {16, 32}, {33, 70}, {64, 300}, {5, 1030}, {3, 0}}) {
      SCOPED_TRACE(fmt::format("{}: {}x{}", kind.name, n, depth));
      const Weight w(k, values_of(kind, n * depth), n, depth);
      ASSERT_TRUE(w.intact());
      for (std::size_t tile = 0; tile < compact_tiles(depth, n); ++tile) {
        const auto* const packed = w.packed.data() + tile * tile_values;
        ASSERT_EQ(tile_of(w, tile), std::vector<std::uint16_t>(packed, packed + tile_values)) << "tile " << tile;
      }
      std::vector<std::int32_t> ids(n);
      for (std::size_t i = 0; i < n; ++i) ids[i] = static_cast<std::int32_t>(n - 1 - i);
      std::vector<float> expected(n * depth), columns(n * depth);
      k.gather_packed(w.packed.data(), depth, ids.data(), expected.data(), n);
      k.gather_compact(w.compact(), depth, ids.data(), columns.data(), n);
      EXPECT_EQ(std::memcmp(columns.data(), expected.data(), columns.size() * sizeof(float)), 0);
    }
}

// Trained weights seldom have tiles that stay whole; some of the other kinds do.
TEST_P(CompactBf16, FewTilesStayWhole) {
  const auto share = [&](const char* name) {
    const Weight w(k, values_of(kind_of(name), std::size_t{256} * 1024), 256, 1024);
    return static_cast<double>(w.whole_tiles()) / static_cast<double>(compact_tiles(1024, 256));
  };
  EXPECT_LT(share("normal"), 0.01);
  EXPECT_EQ(share("zero"), 0);
  EXPECT_EQ(share("16 exponents of one sign"), 0);
  EXPECT_EQ(share("any bits"), 1);
  EXPECT_GT(share("whole tiles beside others"), 0.1);
  EXPECT_LT(share("whole tiles beside others"), 0.9);
}

/// What is done with a product's sums.
enum class Tail : std::uint8_t { none, bias_activation_residual, accumulated, dropped_out, streamed };

/// Expects the same bits of both forms.
void compare(const Kernels& kernels, const Weight& w, std::size_t m, Tail tail) {
  const std::size_t n = w.n, k = w.k;
  Floats32 a(m * k, 1), bias(n, 1), residual(m * n, 2);
  fill_normal(a, 1), fill_normal(bias, 2), fill_normal(residual, 3);
  std::vector<std::uint16_t> scratch(packed_gemm_scratch);
  const auto result = [&](bool compact) {
    Floats32 c(m * n), z(m * n);
    fill_normal(c, 4), fill_normal(z, 5);
    PackedGemm g{.m = m, .n = n, .k = k, .a = a, .a_stride = k, .c = c, .c_stride = n, .scratch = scratch.data()};
    if (compact)
      g.compact = w.compact();
    else
      g.b = w.packed.data();
    g.accumulate = tail == Tail::accumulated;
    g.stream = tail == Tail::streamed;
    if (tail == Tail::dropped_out || tail == Tail::streamed)
      g.dropout = {.p = 0.3f, .key = {0x12345678u, 0x9abcdef0u}}, g.z = z;
    if (tail == Tail::bias_activation_residual || tail == Tail::streamed)
      g.bias = bias, g.activation = Activation::relu, g.residual = residual;
    kernels.packed_gemm(g);
    EXPECT_TRUE(c.intact() && z.intact());
    std::vector<float> both = c.copy();
    both.insert(both.end(), z.data(), z.data() + z.size());
    return both;
  };
  const std::vector<float> expected = result(false), got = result(true);
  EXPECT_EQ(std::memcmp(got.data(), expected.data(), got.size() * sizeof(float)), 0);
}

TEST_P(CompactBf16, ProductsHaveTheBitsOfPackedWeights) {
  for (const char* const name : {"normal", "pruned", "whole tiles beside others"})
    for (const auto& [n, depth] :
         std::vector<std::pair<std::size_t, std::size_t>>{{33, 5}, {200, 600}, {32, 2100}, {130, 257}, {64, 0}}) {
      const Weight w(k, values_of(kind_of(name), n * depth), n, depth);
      for (const std::size_t m : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 40, 70, 300}) {
        if (m > 40 && depth > 600 && name != std::string_view("normal")) continue;
        SCOPED_TRACE(fmt::format("{}: {}x{}x{}", name, m, n, depth));
        compare(k, w, m, Tail::bias_activation_residual);
      }
    }
}

TEST_P(CompactBf16, WhateverIsDoneWithTheSums) {
  const Weight w(k, values_of(kind_of("whole tiles beside others"), 96 * 290), 96, 290);
  for (const Tail tail : {Tail::none, Tail::accumulated, Tail::dropped_out, Tail::streamed})
    for (const std::size_t m : {1, 4, 8, 16, 32, 33, 70}) {
      SCOPED_TRACE(fmt::format("{} rows, tail {}", m, static_cast<int>(tail)));
      compare(k, w, m, tail);
    }
}

// As each thread of several computes some of them.
TEST_P(CompactBf16, SomeColumnsAlone) {
  constexpr std::size_t n = 200, depth = 300, first = 64;
  const Weight w(k, values_of(kind_of("whole tiles beside others"), n * depth), n, depth);
  std::vector<std::uint16_t> scratch(packed_gemm_scratch);
  for (const std::size_t m : {1, 6, 40}) {
    Floats32 a(m * depth, 1), all(m * n, 1), part(m * n, 1);
    fill_normal(a, 1);
    PackedGemm g{.m = m,
                 .n = n,
                 .k = depth,
                 .a = a,
                 .a_stride = depth,
                 .compact = w.compact(),
                 .c = all,
                 .c_stride = n,
                 .scratch = scratch.data()};
    k.packed_gemm(g);
    g.n = n - first, g.c = part + first, g.compact = w.compact().from_tile(compact_tiles(depth, first));
    k.packed_gemm(g);
    for (std::size_t i = 0; i < m; ++i)
      EXPECT_EQ(std::memcmp(part + i * n + first, all + i * n + first, (n - first) * sizeof(float)), 0)
          << m << " " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(EveryTable, CompactBf16, every_table(), table_name);

}  // namespace
}  // namespace tril::kern::compact_bf16_test
