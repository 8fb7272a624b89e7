// Attention to a packed memory on every table against loops in double over individually rounded keys and values.
#include "kern/memory_attention.h"

#include <fmt/format.h>

#include "base/half.h"
#include "kern/support.h"

namespace tril::kern {
namespace {

class MemoryAttentionTest : public KernelTest {};

struct Sizes {
  std::size_t heads, kv_heads, d_k, d_v;
};

// Each head's part of a row, rounded and converted back.
std::vector<float> rounded(const float* x, std::size_t n, MemoryForm form) {
  std::vector<float> y;
  float most = 0;
  for (std::size_t i = 0; i < n; ++i) most = std::max(most, std::abs(x[i]));
  for (std::size_t i = 0; i < n; ++i)
    y.push_back(form == MemoryForm::bf16 ? bf16_to_f32(f32_to_bf16(x[i]))
                                         : most / 127.0f * std::nearbyint(x[i] * (most > 0 ? 127.0f / most : 0.0f)));
  return y;
}

TEST_P(MemoryAttentionTest, EqualsItsTwin) {
  for (const MemoryForm form : {MemoryForm::bf16, MemoryForm::int8})
    for (const auto& [heads, kv_heads, d_k, d_v] :
         {Sizes{1, 1, 1, 1}, Sizes{4, 4, 32, 32}, Sizes{2, 1, 64, 64}, Sizes{4, 2, 20, 36}, Sizes{1, 1, 130, 70}}) {
      const std::vector<std::int32_t> lengths{1, 5, 32, 33, 70, 300};
      const std::vector<MemorySpan> spans{{0, 1, 3},  {1, 4, 0},  {5, 39, 4}, {44, 3, 1},
                                          {47, 1, 2}, {48, 2, 5}, {50, 1, 5}, {51, 0, 1}};
      const std::size_t tokens = 51, q_stride = heads * d_k + 3, out_stride = heads * d_v + 2;
      Floats32 q(tokens * q_stride - 3, 1), out(tokens * out_stride - 2, 2);
      fill_normal(q, 1), fill_normal(out, 2);
      std::vector<std::vector<float>> keys, values;  // as rounded
      std::vector<std::size_t> offsets;
      std::size_t bytes = 0;
      for (std::int32_t n : lengths) {
        offsets.push_back(bytes);
        bytes += kv_heads * MemoryLayout(form, static_cast<std::size_t>(n), d_k, d_v).total;
      }
      Guarded<std::byte> memory(bytes);
      for (std::size_t r = 0; r < lengths.size(); ++r) {
        const auto n = static_cast<std::size_t>(lengths[r]);
        const std::size_t k_stride = kv_heads * d_k + 1, v_stride = kv_heads * d_v + 2;
        Floats32 k_row(n * k_stride - 1), v_row(n * v_stride - 2);
        fill_normal(k_row, 10 + r), fill_normal(v_row, 20 + r);
        if (r == 4)
          for (std::size_t c = 0; c < d_k; ++c) k_row[c] = 0;
        k.pack_memory({form, n, kv_heads, d_k, d_v, k_row, v_row, k_stride, v_stride, memory.data() + offsets[r]});
        keys.emplace_back(), values.emplace_back();
        for (std::size_t j = 0; j < n; ++j)
          for (std::size_t h = 0; h < kv_heads; ++h) {
            const auto key = rounded(&k_row[j * k_stride + h * d_k], d_k, form),
                       value = rounded(&v_row[j * v_stride + h * d_v], d_v, form);
            keys[r].insert(keys[r].end(), key.begin(), key.end());
            values[r].insert(values[r].end(), value.begin(), value.end());
          }
      }
      EXPECT_TRUE(memory.intact());
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
                dot += static_cast<double>(q[token * q_stride + h * d_k + c]) *
                       keys[row][static_cast<std::size_t>(j) * kv_heads * d_k + kv * d_k + c];
              w.push_back(scale * dot);
              most = std::max(most, scale * dot);
            }
            for (double& x : w) sum += x = std::exp(x - most);
            for (std::size_t c = 0; c < d_v; ++c) {
              double y = 0;
              for (std::size_t j = 0; j < w.size(); ++j) y += w[j] * values[row][j * kv_heads * d_v + kv * d_v + c];
              expected[token * out_stride + h * d_v + c] = y / sum;
            }
          }
      Floats32 scratch(memory_attention_scratch(300), 1);
      k.memory_attention({.form = form,
                          .q = q,
                          .q_stride = q_stride,
                          .spans = spans.data(),
                          .num_spans = spans.size(),
                          .memory = memory.data(),
                          .offsets = offsets.data(),
                          .lengths = lengths.data(),
                          .heads = heads,
                          .kv_heads = kv_heads,
                          .d_k = d_k,
                          .d_v = d_v,
                          .scale = static_cast<float>(scale)},
                         out, out_stride, scratch);
      expect_close(out, expected, 3e-6 * std::sqrt(static_cast<double>(d_k)) + 1e-6,
                   fmt::format("{} heads of {}, {}, form {}", heads, d_k, d_v, static_cast<int>(form)));
      EXPECT_TRUE(scratch.intact());
      if (HasFatalFailure()) return;
    }
}

TEST_P(MemoryAttentionTest, WhatIsNotANumberShows) {
  Floats32 keys(3 * 8), values(3 * 8), q(8), out(8), scratch(memory_attention_scratch(3));
  for (const MemoryForm form : {MemoryForm::bf16, MemoryForm::int8})
    for (const bool in_keys : {true, false}) {
      fill_normal(keys, 1), fill_normal(values, 2), fill_normal(q, 3);
      (in_keys ? keys : values)[13] = NAN;
      std::vector<std::byte> memory(MemoryLayout(form, 3, 8, 8).total);
      k.pack_memory({form, 3, 1, 8, 8, keys, values, 8, 8, memory.data()});
      const MemorySpan span{0, 1, 0};
      const std::size_t offset = 0;
      const std::int32_t length = 3;
      k.memory_attention({.form = form,
                          .q = q,
                          .q_stride = 8,
                          .spans = &span,
                          .num_spans = 1,
                          .memory = memory.data(),
                          .offsets = &offset,
                          .lengths = &length,
                          .d_k = 8,
                          .d_v = 8},
                         out, 8, scratch);
      bool shows = false;
      for (std::size_t i = 0; i < 8; ++i) shows |= std::isnan(out[i]);
      EXPECT_TRUE(shows) << in_keys;
    }
}

INSTANTIATE_TEST_SUITE_P(Tables, MemoryAttentionTest, every_table(), table_name);

}  // namespace
}  // namespace tril::kern
