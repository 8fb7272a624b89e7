// A team of threads computes the same as one thread: the same bits if sums are of integers or use the same kernel, and
// up to the order of sums if the library picks another kernel for fewer columns.
#include <algorithm>
#include <cmath>
#include <mutex>
#include <numeric>

#include "kern/gemm_int8.h"
#include "kern/quantize_int4.h"
#include "ops/gated_columns.h"
#include "ops/rotary.h"
#include "ops/shares.h"
#include "support/op_case.h"

namespace tril::test {
namespace {

class Shared : public testing::TestWithParam<const kern::Kernels*> {
 protected:
  Tensor normal(Shape shape, std::uint64_t seed) {
    const Tensor x = c_.empty(std::move(shape));
    std::vector<float> values(static_cast<std::size_t>(x.count()));
    RandomSequence random(seed, 1);
    for (float& v : values) v = static_cast<float>(random.normal());
    host_write<float>(x, std::span<const float>(values));
    return x;
  }

  // W [out, in] of 8 or 4 bits, packed.
  ops::Weight quantized(std::int64_t out, std::int64_t in, int bits, std::uint64_t seed) {
    const auto n = static_cast<std::size_t>(out), k = static_cast<std::size_t>(in), groups = (k + 31) / 32;
    const std::size_t row_bytes = bits == 8 ? k : (k + 1) / 2;
    const Tensor w = normal({out, in}, seed);
    std::vector<std::uint8_t> rows(n * row_bytes), multipliers(n * groups);
    std::vector<float> scales(kern::int8_columns(n), 0.0f);
    if (bits == 8)
      c_.kernels().quantize_rows(w.data<float>(), k, n, k, reinterpret_cast<std::int8_t*>(padded(n, k)), scales.data());
    else
      kern::quantize_int4(w.data<float>(), n, k, {rows.data(), multipliers.data(), scales.data()});
    for (std::size_t j = 0; bits == 8 && j < n; ++j)
      std::copy_n(padded_.data() + j * kern::int8_depth(k), k, rows.data() + j * k);
    ops::Weight weight;
    weight.shape = {out, in};
    ops::QuantizedMatrix& q = weight.quantized;
    q.shape = {out, in};
    q.bits = bits;
    const auto bytes = [&](std::size_t count) { return c_.empty({static_cast<std::int64_t>(count)}, DType::u8); };
    q.values = bytes(kern::int8_packed_bytes(n, k, bits));
    if (bits == 4) q.multipliers = bytes(kern::int4_multipliers(n, k));
    q.scales = c_.upload(scales);
    q.sums = c_.empty({static_cast<std::int64_t>(kern::int8_columns(n))}, DType::i32);
    c_.kernels().pack_quantized({.n = n,
                                 .k = k,
                                 .bits = bits,
                                 .rows = rows.data(),
                                 .row_bytes = row_bytes,
                                 .row_multipliers = multipliers.data(),
                                 .values = q.values.data<std::uint8_t>(),
                                 .multipliers = bits == 4 ? q.multipliers.data<std::uint8_t>() : nullptr,
                                 .sums = q.sums.data<std::int32_t>()});
    return weight;
  }

  // f() alone and by teams of several sizes, up to more members than there are heads.
  template <class F>
  void compare(const std::string& what, double tolerance, F f) {
    const std::vector<Tensor> alone = f();
    for (const int threads : {2, 3, 7, 13}) {
      Team team(threads);
      c_.set_team(&team);
      const std::vector<Tensor> shared = f();
      c_.set_team(nullptr);
      for (std::size_t t = 0; t < alone.size(); ++t) {
        if (alone[t].dtype() == DType::i32) {
          EXPECT_EQ(host_copy<std::int32_t>(shared[t]), host_copy<std::int32_t>(alone[t])) << what << " " << threads;
          continue;
        }
        const std::vector<float> a = host_copy<float>(alone[t]), b = host_copy<float>(shared[t]);
        ASSERT_EQ(a.size(), b.size());
        for (std::size_t i = 0; i < a.size(); ++i)
          ASSERT_NEAR(a[i], b[i], tolerance * (1 + std::abs(a[i]))) << what << " " << threads << " at " << i;
      }
    }
  }

  std::int8_t* padded(std::size_t n, std::size_t k) {
    padded_.resize(n * kern::int8_depth(k));
    return padded_.data();
  }

  Arena arena_;
  Context c_{arena_, *GetParam()};
  std::vector<std::int8_t> padded_;
};

constexpr std::int64_t in = 257, out = 421;  // no multiple of a tile or panel; large enough to share

TEST_P(Shared, Linear) {
  for (const std::int64_t rows : {1, 2, 5, 37, 300})
    for (const bool tail : {false, true}) {
      const Tensor x = normal({rows, in}, 1), b = normal({out}, 2), r = normal({rows, out}, 3);
      const auto linear = [&](const ops::Weight& w) {
        ops::LinearOptions o;
        if (tail) o.activation = ops::Activation::gelu, o.residual = r;
        return std::vector{ops::linear(c_, x, w, tail ? b : Tensor(), o)};
      };
      for (const int bits : {8, 4}) {
        const ops::Weight w = quantized(out, in, bits, 4);
        compare(fmt::format("{} bits, {} rows, tail {}", bits, rows, tail), 0, [&] { return linear(w); });
      }
      const Tensor values = normal({out, in}, 4);
      const ops::Weight packed = mixed(c_, values), plain{values, {}};
      compare(fmt::format("bf16, {} rows, tail {}", rows, tail), 0, [&] { return linear(packed); });
      compare(fmt::format("fp32, {} rows, tail {}", rows, tail), 1e-4, [&] { return linear(plain); });
    }
}

TEST_P(Shared, TopKOfAVocabulary) {
  for (const int bits : {8, 4})
    for (const std::int64_t rows : {1, 3, 40}) {
      const ops::Weight w = quantized(out, in, bits, 5);
      const Tensor x = normal({rows, in}, 6), b = normal({out}, 7);
      std::vector<std::vector<std::int32_t>> forbidden(static_cast<std::size_t>(rows), {0, 200, 420});
      forbidden[0].resize(out);  // all of them
      std::iota(forbidden[0].begin(), forbidden[0].end(), 0);
      for (const std::int64_t k : {1, 5, 60})
        compare(fmt::format("{} bits, {} rows, k {}", bits, rows, k), 1e-6, [&] {
          const ops::Best best = ops::projected_top_k(c_, x, {{{.rows = rows, .w = w, .b = b}}}, k, forbidden, true);
          std::vector<float> finite = host_copy<float>(best.values);
          for (float& v : finite) v = std::max(v, -1e30f);  // -inf less -inf is no number
          return std::vector{c_.upload(finite), best.ids, best.log_sums};
        });
    }
}

// Parts with rows of the weight of their own give what the whole weight gives without the other ids.
TEST_P(Shared, TopKOfSelectedRows) {
  for (const int bits : {8, 4, 32}) {
    const ops::Weight w = bits == 32 ? ops::Weight(normal({out, in}, 5)) : quantized(out, in, bits, 5);
    const Tensor x = normal({6, in}, 6), b = normal({out}, 7);
    const std::vector<std::vector<std::int32_t>> lists{{1, 5, 6, 40, 200}, {0, 2, 3}};
    std::vector<ops::OutputPart> parts;
    for (const auto& ids : lists) {
      const Tensor of = c_.upload(ids);
      parts.push_back({.rows = 2,
                       .w = ops::select_rows(c_, w, of),
                       .b = ops::rows_of(c_, b.reshape({out, 1}), of).reshape({std::ssize(ids)}),
                       .ids = ids});
    }
    parts.push_back({.rows = 2, .w = w, .b = b});
    const std::vector<std::vector<std::int32_t>> forbidden{{}, {5, 7}, {0}, {0, 2, 3}, {}, {}};
    std::vector<std::vector<std::int32_t>> others = forbidden;
    for (std::size_t row = 0; row < 4; ++row)
      for (std::int32_t id = 0; id < out; ++id)
        if (!std::binary_search(lists[row / 2].begin(), lists[row / 2].end(), id)) others[row].push_back(id);
    for (const std::int64_t k : {1, 4}) {
      const ops::Best some = ops::projected_top_k(c_, x, parts, k, forbidden, true);
      const ops::Best all = ops::projected_top_k(c_, x, {{{.rows = 6, .w = w, .b = b}}}, k, others, true);
      EXPECT_EQ(host_copy<std::int32_t>(some.ids), host_copy<std::int32_t>(all.ids));
      const std::vector<float> got = host_copy<float>(some.values), expected = host_copy<float>(all.values);
      for (std::size_t i = 0; i < got.size(); ++i)
        if (bits == 32 && std::isfinite(expected[i]))
          EXPECT_NEAR(got[i], expected[i], 1e-3f) << "sums of floats of another width";
        else
          EXPECT_EQ(got[i], expected[i]) << "sums of integers";
      const std::vector<float> sums = host_copy<float>(some.log_sums), of_all = host_copy<float>(all.log_sums);
      EXPECT_LT(sums[0], of_all[0]);
      EXPECT_NEAR(sums[5], of_all[5], 1e-5);
    }
  }
}

TEST_P(Shared, CachedAttention) {
  constexpr std::int64_t heads = 6, kv_heads = 3, d = 16, slots = 700;
  const Tensor keys = normal({slots, kv_heads * d}, 8), values = normal({slots, kv_heads * d}, 9);
  std::vector<std::int32_t> slot(slots);
  for (std::int32_t i = 0; i < slots; ++i) slot[static_cast<std::size_t>(i)] = i * 37 % slots;
  ops::CachedKeysValues bytes;
  bytes.keys = c_.empty(keys.shape(), DType::i8), bytes.values = c_.empty(values.shape(), DType::i8);
  bytes.key_scales = c_.empty({slots, kv_heads}), bytes.value_scales = c_.empty({slots, kv_heads});
  ops::quantize_slots(c_, keys, slot, bytes.keys, bytes.key_scales);
  ops::quantize_slots(c_, values, slot, bytes.values, bytes.value_scales);
  const std::vector<std::vector<std::int32_t>> cases{{1},          {40}, {200}, {130, 64}, {1, 1, 1, 1, 1},
                                                     {0, 33, 1, 2}};  // queries of each row
  for (const auto& queries : cases)
    for (const bool bits8 : {false, true}) {
      const std::vector<const std::int32_t*> at(queries.size(), slot.data());
      std::vector<std::int32_t> lengths(queries.size());
      for (std::size_t r = 0; r < queries.size(); ++r) lengths[r] = 700 - 90 * static_cast<std::int32_t>(r);
      const Tensor q = normal({std::accumulate(queries.begin(), queries.end(), std::int64_t{0}), heads * d}, 10);
      ops::AttentionOptions o;
      o.num_heads = heads, o.num_kv_heads = kv_heads;
      o.mask = ops::Mask::causal();
      for (const std::int32_t window : {0, 90}) {
        o.mask.window = window, o.sink_logits = window > 0 ? normal({heads}, 11) : Tensor();
        compare(fmt::format("{} rows, first with {}, 8 bits {}, window {}", queries.size(), queries[0], bits8, window),
                0, [&] {
                  return std::vector{ops::cached_attention(
                      c_, q, bits8 ? bytes : ops::CachedKeysValues{keys, values, {}, {}}, {at, lengths, queries}, o)};
                });
      }
    }
}

TEST_P(Shared, Attention) {
  constexpr std::int64_t heads = 6, kv_heads = 3, d = 16;
  const Rows rows = Rows::of_lengths(std::vector<std::int32_t>{70, 0, 141});
  const std::int64_t tokens = rows.tokens();
  const Tensor q = normal({tokens, heads * d}, 1), k = normal({tokens, kv_heads * d}, 2),
               v = normal({tokens, kv_heads * d}, 3), table = normal({heads, 2 * tokens}, 4);
  for (const bool causal : {false, true})
    for (const bool bias : {false, true}) {
      ops::AttentionOptions o;
      o.num_heads = heads, o.num_kv_heads = kv_heads;
      o.mask = causal ? ops::Mask::causal() : ops::Mask::full();
      o.sink_logits = causal ? normal({heads}, 5) : Tensor();
      if (bias) o.bias = {table, tokens};
      compare(fmt::format("causal {}, bias {}", causal, bias), 0, [&] {
        return std::vector{ops::attention(c_, {q, k, v}, ops::spans_of(rows, rows), o)};
      });
    }
}

TEST_P(Shared, RowsOfAPrompt) {
  constexpr std::int64_t N = 301, D = 512, heads = 4;  // more values than one thread computes alone
  static_assert(ops::row_parts(13, N, D) == 13);
  const Tensor x = normal({N, D}, 1), other = normal({N, D}, 2), g = normal({D}, 3), b = normal({D}, 4);
  std::vector<std::int32_t> positions(N);
  std::iota(positions.begin(), positions.end(), 5);
  const ops::Rotation rotation{normal({N + 5, D / heads}, 6), c_.upload(positions)};
  std::vector<std::int32_t> slots(N);
  std::iota(slots.rbegin(), slots.rend(), 0);
  compare("rows", 0, [&] {
    const Tensor bytes = c_.empty({N, D}, DType::i8), scales = c_.empty({N, heads});
    ops::quantize_slots(c_, x, slots, bytes, scales);
    std::vector<std::int32_t> kept;
    for (const std::int8_t byte : host_copy<std::int8_t>(bytes)) kept.push_back(byte);
    return std::vector{ops::rms_norm(c_, x, g, 1e-5f),
                       ops::layer_norm(c_, x, g, b, 1e-5f),
                       ops::rotary(c_, x, rotation, heads),
                       ops::activate(c_, ops::Activation::gelu, x),
                       ops::gated(c_, ops::Activation::silu, x, other),
                       ops::gated_columns(c_, ops::Activation::silu, normal({N, 2 * D}, 7)),
                       ops::add(c_, x, other),
                       c_.upload(kept),
                       scales};
  });
}

// What two threads write must not be in one cache line, where rows are whole lines themselves.
TEST(SharedLines, PartsBeginOnCacheLines) {
  constexpr std::int64_t floats_of_line = 16;
  for (int threads = 1; threads <= 64; ++threads) {
    for (const std::int64_t out : {512, 1024, 2048, 3072, 4096, 6144, 8192, 11008, 14336, 32000, 32768, 128256}) {
      const std::int64_t panels = ops::panels_of(out), parts = std::min<std::int64_t>(threads, panels);
      for (std::int64_t part = 0; part <= parts; ++part)
        ASSERT_EQ(std::min(out, part_begin(panels, part, parts) * ops::panel_columns) % floats_of_line, 0)
            << out << " columns of part " << part << " of " << parts;
    }
    for (const auto& [heads, kv_heads] : {std::pair{32, 8}, {32, 32}, {64, 8}, {40, 40}, {16, 16}, {28, 4}, {6, 3}})
      for (const std::int64_t d : {16, 32, 64, 80, 96, 128, 256})
        for (const std::int64_t rows : {1, 2, 5, 32}) {
          const ops::KeyHeadParts shape = ops::key_head_parts(threads, rows, heads, kv_heads, rows == 2);
          ASSERT_EQ(shape.units_of_row * shape.heads_of_unit, heads);
          ASSERT_EQ(heads / kv_heads % shape.heads_of_unit, 0) << "a unit has the heads of one key head";
          ASSERT_EQ(shape.heads_of_unit * d % floats_of_line, 0);
        }
  }
  Arena arena;
  Context c(arena);
  for (const int threads : {2, 3, 7}) {
    Team team(threads);
    c.set_team(&team);
    std::mutex mutex;
    std::vector<std::pair<std::int64_t, std::int64_t>> ranges;
    constexpr std::int64_t values = ops::values_worth_a_round + 77;
    ops::share_values(c, values, [&](std::int64_t begin, std::int64_t end) {
      const std::lock_guard lock(mutex);
      ranges.emplace_back(begin, end);
    });
    std::sort(ranges.begin(), ranges.end());
    ASSERT_EQ(std::ssize(ranges), threads);
    EXPECT_EQ(ranges.front().first, 0);
    EXPECT_EQ(ranges.back().second, values);
    for (std::size_t i = 1; i < ranges.size(); ++i) {
      EXPECT_EQ(ranges[i].first, ranges[i - 1].second);
      EXPECT_EQ(ranges[i].first % floats_of_line, 0);
    }
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(c.empty({3, 5}).data<float>()) % 64, 0u);
    c.set_team(nullptr);
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, Shared, testing::ValuesIn(kern::tables()),
                         [](const auto& table) { return std::string(table.param->name); });

}  // namespace
}  // namespace tril::test
