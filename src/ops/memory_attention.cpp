// memory_attention: y = softmax(scale q k^T) v, head by head, with keys and values that were packed once. No gradient.
//   q [N, H d_k]   y [N, H d_v]                                                         [Vaswani et al. 2017, eq. 1]
#include <algorithm>
#include <cmath>

#include "ops/sizes.h"

namespace tril::ops {

PackedMemory pack_memory(Context& c, const Tensor& keys, const Tensor& values, const Rows& rows,
                         const MemoryHeads& heads) {
  const auto& [form, num_heads, num_kv_heads] = heads;
  const auto [S, K] = keys.dims<2>("pack_memory: keys");
  const auto [S_values, V] = values.dims<2>("pack_memory: values");
  check(S == rows.tokens() && S == S_values && K % num_kv_heads == 0 && V % num_kv_heads == 0, "pack_memory",
        "keys {} and values {} for {} tokens of {} heads", keys.shape(), values.shape(), rows.tokens(), num_kv_heads);
  PackedMemory m;
  m.form = form;
  m.num_heads = num_heads, m.num_kv_heads = num_kv_heads, m.d_k = K / num_kv_heads, m.d_v = V / num_kv_heads;
  std::size_t bytes = 0;
  for (std::int64_t r = 0; r < rows.count(); ++r) {
    check(rows.length(r) > 0, "pack_memory", "row {} has no tokens", r);
    m.lengths.push_back(rows.length(r));
    m.offsets.push_back(bytes);
    bytes += z(num_kv_heads) * kern::MemoryLayout(form, z(rows.length(r)), z(m.d_k), z(m.d_v)).total;
  }
  m.bytes = c.empty_vector(bytes, DType::u8);
  const auto time = c.timed("pack_memory", "forward", [&] { return Work{.bytes = bytes_of(keys, values, m.bytes)}; });
  for (std::int64_t r = 0; r < rows.count(); ++r)
    c.kernels().pack_memory({.form = form,
                             .n = z(rows.length(r)),
                             .kv_heads = z(num_kv_heads),
                             .d_k = z(m.d_k),
                             .d_v = z(m.d_v),
                             .k = keys.data<float>() + rows.begin(r) * keys.row_stride(),
                             .v = values.data<float>() + rows.begin(r) * values.row_stride(),
                             .k_stride = z(keys.row_stride()),
                             .v_stride = z(values.row_stride()),
                             .to = reinterpret_cast<std::byte*>(m.bytes.data<std::uint8_t>()) + m.offsets[z(r)]});
  return m;
}

Tensor memory_attention(Context& c, const Tensor& q, const PackedMemory& memory,
                        std::span<const kern::MemorySpan> spans, float scale) {
  const auto [N, D] = q.dims<2>("memory_attention: q");
  check(D == memory.num_heads * memory.d_k, "memory_attention", "q {} for {} heads of {}", q.shape(), memory.num_heads,
        memory.d_k);
  std::int32_t longest = 0;
  std::int64_t queries = 0;
  double pairs = 0;
  for (const kern::MemorySpan& s : spans) {
    check(s.q_begin >= 0 && s.q_len >= 0 && s.q_begin + s.q_len <= N && s.memory >= 0 &&
              z(s.memory) < memory.lengths.size(),
          "memory_attention", "queries [{}, +{}) of {} for row {} of {}", s.q_begin, s.q_len, N, s.memory,
          memory.lengths.size());
    const std::int32_t n = memory.lengths[z(s.memory)];
    longest = std::max(longest, n);
    queries += s.q_len;
    pairs += static_cast<double>(s.q_len) * static_cast<double>(n);
  }
  check(queries == N, "memory_attention", "spans of {} queries for {}", queries, N);
  Tensor y = c.empty({N, memory.num_heads * memory.d_v});
  Tensor scratch = c.empty_vector(kern::memory_attention_scratch(z(longest)));
  const auto time = c.timed("memory_attention", "forward", [&] {
    const double widths = static_cast<double>(memory.num_heads * (memory.d_k + memory.d_v));
    return product_work(false, 2 * pairs * widths, bytes_of(q, y, memory.bytes));
  });
  c.kernels().memory_attention({.form = memory.form,
                                .q = q.data<float>(),
                                .q_stride = z(q.row_stride()),
                                .spans = spans.data(),
                                .num_spans = spans.size(),
                                .memory = reinterpret_cast<const std::byte*>(memory.bytes.data<std::uint8_t>()),
                                .offsets = memory.offsets.data(),
                                .lengths = memory.lengths.data(),
                                .heads = z(memory.num_heads),
                                .kv_heads = z(memory.num_kv_heads),
                                .d_k = z(memory.d_k),
                                .d_v = z(memory.d_v),
                                .scale = scale != 0 ? scale : 1.0f / std::sqrt(static_cast<float>(memory.d_k))},
                               y.data<float>(), z(y.row_stride()), scratch.data<float>());
  return y;
}

}  // namespace tril::ops
