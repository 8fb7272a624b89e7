// Attention of few queries to a memory whose keys and values were packed once, as right operands of bfloat16
// (gemm_bf16.h): the cross-attention of a decoder, step by step. Scores, weights' sums and results are float32.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kern/gemm_bf16.h"

namespace tril::kern {

/// Queries [q_begin, +q_len) attend to all keys of row `memory`.
struct MemorySpan {
  std::int32_t q_begin = 0, q_len = 0, memory = 0;
};

/// Row r of the memory has lengths[r] keys. For each of its key heads, keys + key_offsets[r] has K^T [d_k, length] as a
/// right operand, one head after the other; values + value_offsets[r] has V [length, d_v] likewise.
struct MemoryAttention {
  const float* q = nullptr;
  std::size_t q_stride = 0;
  const MemorySpan* spans = nullptr;
  std::size_t num_spans = 0;
  const std::uint16_t *keys = nullptr, *values = nullptr;
  const std::size_t *key_offsets = nullptr, *value_offsets = nullptr;
  const std::int32_t* lengths = nullptr;
  std::size_t heads = 1, kv_heads = 1, d_k = 0, d_v = 0;
  float scale = 1;
};

/// Floats of scratch for rows of up to `longest` keys.
constexpr std::size_t memory_attention_scratch(std::size_t d_k, std::size_t longest) {
  const std::size_t keys = tiles_of(longest, 32) * 32;
  return packed_left_values(32, d_k) / 2 + packed_left_values(32, keys) / 2 + 32 * keys + 32 * 32 + 32 + 4 * 16;
}

}  // namespace tril::kern
