// Attention of a few queries to a memory whose keys and values were packed once: the cross-attention of a decode
// step. Such a step reads the memory of all its sentences and little else, so the size of the memory decides its
// speed. It is stored in bfloat16, or in 8-bit integers with a scale for each key and each value of a head. Queries,
// scores and sums are float32.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kern/attention.h"

namespace tril::kern {

enum class MemoryForm : std::uint8_t { bf16, int8 };

/// The memory layout of one key head of a row of n keys, in bytes: K^T [d_k, n'], V [n, d_v'], and with 8 bits the
/// scales of keys and values [2, n'] in float32; n' and d_v' are n and d_v rounded up to a multiple of 16.
struct MemoryLayout {
  std::size_t keys, values, scales, total;  ///< offset of each part; total: size of a head
  std::size_t padded_n, padded_d_v;

  constexpr MemoryLayout(MemoryForm form, std::size_t n, std::size_t d_k, std::size_t d_v)
      : keys(0), values(0), scales(0), total(0), padded_n(up(n, 16)), padded_d_v(up(d_v, 16)) {
    const std::size_t size = form == MemoryForm::bf16 ? 2 : 1;
    values = up(d_k * padded_n * size, 64);
    scales = values + up(n * padded_d_v * size, 64);
    total = scales + (form == MemoryForm::int8 ? up(2 * padded_n * sizeof(float), 64) : 0);
  }

 private:
  static constexpr std::size_t up(std::size_t n, std::size_t to) { return (n + to - 1) / to * to; }
};

/// One row's keys [n, kv_heads * d_k] and values [n, kv_heads * d_v], with rows k_stride and v_stride floats apart.
struct PackMemory {
  MemoryForm form = MemoryForm::bf16;
  std::size_t n = 0, kv_heads = 1, d_k = 0, d_v = 0;
  const float *k = nullptr, *v = nullptr;
  std::size_t k_stride = 0, v_stride = 0;
  std::byte* to = nullptr;  ///< kv_heads * MemoryLayout::total bytes, aligned to a cache line
};

/// Queries [q_begin, +q_len) attend to all keys of row `memory`.
struct MemorySpan {
  std::int32_t q_begin = 0, q_len = 0, memory = 0;
};

/// Row r of the memory has lengths[r] > 0 keys and begins at memory + offsets[r].
struct MemoryAttention {
  MemoryForm form = MemoryForm::bf16;
  const float* q = nullptr;
  std::size_t q_stride = 0;
  const MemorySpan* spans = nullptr;
  std::size_t num_spans = 0;
  const std::byte* memory = nullptr;
  const std::size_t* offsets = nullptr;
  const std::int32_t* lengths = nullptr;
  std::size_t heads = 1, kv_heads = 1, d_k = 0, d_v = 0;
  float scale = 1;
};

/// The most queries of a row that share a pass over its keys.
constexpr std::size_t memory_attention_queries = 4;
/// Floats of scratch for rows of up to `longest` keys.
constexpr std::size_t memory_attention_scratch(std::size_t longest) {
  return memory_attention_queries * ((longest + 15) / 16 * 16) + 16;
}

}  // namespace tril::kern
