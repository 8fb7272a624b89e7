// How a tensor in a GGUF file corresponds to one in Hugging Face's files of the same family: its names and its form. gguf_rules.h
// has the tensors of each family. Experts that Hugging Face's files hold in one tensor have the model's own names and layout here
// (StoredAs::part in model.h).
//
// Rotary positions rotate pairs of a head's values: (i, i + d/2) in Hugging Face's numbering of most families, (2 i, 2 i + 1)
// in llama.cpp's for some of them. So the rows of their query and key matrices are in another
// order: in a head of d rows, row 2 i + t of the GGUF file is row t d/2 + i of Hugging Face's.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace tril::model {

struct GgufRule {
  enum class Form : std::uint8_t {
    same,
    rotated_queries,  ///< the rows of each head are in pairs
    rotated_keys,
    part_rotated_queries,  ///< the same for the first rows of each head, which rotated_rows() counts; the others follow in order
    part_rotated_keys,
    grouped,      ///< Hugging Face's files have q, k, v of one group of heads after the other, GGUF all q, all k, all v
    row,          ///< one row, which GGUF may store as a vector
    taps,         ///< [width, taps] in GGUF, [width, 1, taps] in Hugging Face's files
    transposed,   ///< Hugging Face's files have [in, out]
    offset,       ///< Hugging Face's files store the values minus one
    experts,      ///< GGUF has the tensors of all experts in one, [experts, out, in]; "{e}" in `hf` is an expert
    query_heads,  ///< likewise the vectors of all heads of queries
    key_heads,    ///< or of keys
    fused_qkv,    ///< GGUF may have q, k, v in one tensor; "{e}" is q, k or v
    expert_gates,  ///< the first half of the rows of each expert's matrix; the tensor of `partner` has the other half
    expert_ups,    ///< that other half
    latent_keys,  ///< [heads, rank, own], the transposed first rows of each head; the tensor of `partner` has the others
    latent_values,  ///< [heads, values, rank]: those others
    delta_values,   ///< rows in the order of llama.cpp's heads of values (delta_head()), as are the following
    delta_qkv,      ///< the same for the rows of values, which follow those of queries and keys
    delta_taps,     ///< both delta_qkv and taps
    delta_heads,    ///< one row or value for each head
    delta_rates,    ///< the same; Hugging Face's files have log(-a)
    delta_columns,  ///< columns in that order
    rates,          ///< Hugging Face's files have log(-a)
    delta_inputs,  ///< all queries, all keys, all values; the tensor of `partner` has the rows of the gates. Hugging Face's files
                   ///< have those of one head of keys after the other
    delta_gates,   ///< those gates
    column,        ///< [heads, 1] in GGUF, a vector in Hugging Face's files
    column_rates,  ///< the same; Hugging Face's files have log(-a)
    norm_groups,   ///< [groups, values] in GGUF, a vector in Hugging Face's files
    gate_rows,     ///< the first half of the rows of a matrix; the tensor of `partner` has the other half
    up_rows,       ///< that other half
    metadata       ///< `gguf` is a key of the metadata with a number for each layer
  };
  std::string gguf,
      hf;  ///< "{}" stands for the layer: "blk.{}.attn_q.weight", "model.layers.{}.self_attn.q_proj.weight"
  Form form = Form::same;
  bool only_read = false;  ///< a form of older files, which is never written

  bool in_layers() const { return hf.find("{}") != hf.npos; }
  bool has_parts() const { return hf.find("{e}") != hf.npos; }
  std::string gguf_name(std::int64_t layer) const;
  std::string hf_name(std::int64_t layer, std::int64_t part = 0) const;
  /// The GGUF name of the tensor that has the other rows of the same matrix; "" if the form has none.
  std::string partner_name(std::int64_t layer) const;
};

/// The name with its first `from` replaced by `to`; unchanged if it has none.
std::string with_replaced(std::string text, std::string_view from, const std::string& to);

/// How many of Hugging Face's tensors a tensor of GGUF holds.
std::int64_t gguf_parts(const GgufRule& rule, const nlohmann::json& config);

/// The row of Hugging Face's matrix that is row i of GGUF's, for each i; empty if the order is the same. A bias has rows of one
/// value. @throws Error if the rows do not fit the heads
std::vector<std::int64_t> gguf_row_order(const GgufRule& rule, std::int64_t rows, const nlohmann::json& config);

/// Of form delta_inputs: the numbers of rows of one head of keys' queries, keys, values and gates in Hugging Face's matrix.
std::array<std::int64_t, 4> delta_input_rows(const nlohmann::json& config);

/// The head of values of the gated delta rule that is llama.cpp's head i. Hugging Face's files have those of one head of keys
/// side by side, GGUF the first of all heads of keys, then the second.
constexpr std::int64_t delta_head(std::int64_t i, std::int64_t key_heads, std::int64_t heads) {
  return i % key_heads * (heads / key_heads) + i / key_heads;
}

/// The row of Hugging Face's matrix that is row `row` of the rotated one, with `d` rows in each head.
constexpr std::int64_t unrotated_row(std::int64_t row, std::int64_t d) {
  return row / d * d + row % d % 2 * (d / 2) + row % d / 2;
}

}  // namespace tril::model
