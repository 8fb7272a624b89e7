// Attention to a packed memory on every table against loops of doubles over operands that were rounded one by one.
#include "kern/memory_attention.h"

#include <fmt/format.h>

#include "base/half.h"
#include "kern/support.h"

namespace tril::kern {
namespace {

class MemoryAttentionTest : public KernelTest {};

double rounded(float x) {
  return bf16_to_f32(f32_to_bf16(x));
}

TEST_P(MemoryAttentionTest, EqualsItsTwin) {
  struct Sizes {
    std::size_t heads, kv_heads, d_k, d_v;
  };
  for (const auto& [heads, kv_heads, d_k, d_v] :
       {Sizes{1, 1, 1, 1}, Sizes{4, 4, 32, 32}, Sizes{2, 1, 64, 64}, Sizes{4, 2, 20, 36}, Sizes{1, 1, 33, 70}}) {
    const std::vector<std::int32_t> lengths{1, 5, 32, 33, 70, 300};
    const std::vector<MemorySpan> spans{{0, 1, 3},  {1, 4, 0},  {5, 40, 4}, {45, 2, 1},
                                        {47, 1, 2}, {48, 3, 5}, {51, 1, 5}};
    const std::size_t tokens = 52, q_stride = heads * d_k + 3, out_stride = heads * d_v + 2;
    Floats32 q(tokens * q_stride - 3, 1), out(tokens * out_stride - 2, 2);
    fill_normal(q, 1), fill_normal(out, 2);
    std::vector<std::vector<float>> keys, values;
    std::vector<std::size_t> key_offsets, value_offsets;
    std::vector<std::uint16_t> packed_keys, packed_values;
    for (std::size_t r = 0; r < lengths.size(); ++r) {
      const auto n = static_cast<std::size_t>(lengths[r]);
      Floats32 k_row(n * kv_heads * d_k), v_row(n * kv_heads * d_v);
      fill_normal(k_row, 10 + r), fill_normal(v_row, 20 + r);
      keys.push_back(k_row.copy()), values.push_back(v_row.copy());
      key_offsets.push_back(packed_keys.size()), value_offsets.push_back(packed_values.size());
      for (std::size_t h = 0; h < kv_heads; ++h) {
        const std::size_t k_at = packed_keys.size(), v_at = packed_values.size();
        packed_keys.resize(k_at + packed_right_values(d_k, n));
        packed_values.resize(v_at + packed_right_values(n, d_v));
        k.pack_right({.b = k_row + h * d_k,
                      .stride = kv_heads * d_k,
                      .k = d_k,
                      .n = n,
                      .transposed = true,
                      .packed = &packed_keys[k_at]});
        k.pack_right(
            {.b = v_row + h * d_v, .stride = kv_heads * d_v, .k = n, .n = d_v, .packed = &packed_values[v_at]});
      }
    }
    constexpr double scale = 0.3;
    std::vector<double> expected(out.data(), out.data() + out.size());
    for (const MemorySpan& s : spans)
      for (std::int32_t i = 0; i < s.q_len; ++i)
        for (std::size_t h = 0; h < heads; ++h) {
          const auto row = static_cast<std::size_t>(s.memory), token = static_cast<std::size_t>(s.q_begin + i);
          const std::size_t kv = h / (heads / kv_heads);
          std::vector<double> w;
          double most = -INFINITY, sum = 0;
          for (std::int32_t j = 0; j < lengths[row]; ++j) {
            double dot = 0;
            for (std::size_t c = 0; c < d_k; ++c)
              dot += rounded(q[token * q_stride + h * d_k + c]) *
                     rounded(keys[row][static_cast<std::size_t>(j) * kv_heads * d_k + kv * d_k + c]);
            w.push_back(scale * dot);
            most = std::max(most, scale * dot);
          }
          for (double& x : w) sum += x = std::exp(x - most);
          for (std::size_t c = 0; c < d_v; ++c) {
            double y = 0;
            for (std::size_t j = 0; j < w.size(); ++j)
              y += rounded(static_cast<float>(w[j])) * rounded(values[row][j * kv_heads * d_v + kv * d_v + c]);
            expected[token * out_stride + h * d_v + c] = y / sum;
          }
        }
    Floats32 scratch(memory_attention_scratch(d_k, 300), 1);
    k.memory_attention({.q = q,
                        .q_stride = q_stride,
                        .spans = spans.data(),
                        .num_spans = spans.size(),
                        .keys = packed_keys.data(),
                        .values = packed_values.data(),
                        .key_offsets = key_offsets.data(),
                        .value_offsets = value_offsets.data(),
                        .lengths = lengths.data(),
                        .heads = heads,
                        .kv_heads = kv_heads,
                        .d_k = d_k,
                        .d_v = d_v,
                        .scale = static_cast<float>(scale)},
                       out, out_stride, scratch);
    // A weight may be rounded to the other of two neighbours: half a unit of eight bits, of few of many.
    expect_close(out, expected, 4e-3, fmt::format("{} heads of {}, {}", heads, d_k, d_v));
    EXPECT_TRUE(scratch.intact());
    if (HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Tables, MemoryAttentionTest, every_table(), table_name);

}  // namespace
}  // namespace tril::kern
