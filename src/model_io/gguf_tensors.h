// How tensors in GGUF files correspond to tensors in Hugging Face's files of the same family: names and forms. Names
// are those of ggml's gguf package (constants.py, tensor_mapping.py).
//
// Rotary positions rotate pairs of a head's values: (i, i + d/2) in Hugging Face's numbering, (2 i, 2 i + 1) in
// llama.cpp's for the architectures llama and granite. So the rows of their query and key matrices are in another
// order: in a head of d rows, row 2 i + t of the GGUF file is row t d/2 + i of Hugging Face's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tril::model {

struct GgufRule {
  enum class Form : std::uint8_t {
    same,
    rotated_queries,  ///< the rows of each head are in pairs
    rotated_keys,
    row,         ///< one row, which GGUF may store as a vector
    transposed,  ///< Hugging Face's files have [in, out]
    offset,      ///< Hugging Face's files store the values minus one
    experts,     ///< GGUF has the matrices of all experts in one tensor [experts, out, in]; "{e}" in `hf` is an expert
  };
  std::string gguf,
      hf;  ///< "{}" stands for the layer: "blk.{}.attn_q.weight", "model.layers.{}.self_attn.q_proj.weight"
  Form form = Form::same;

  bool in_layers() const { return gguf.find("{}") != gguf.npos; }
  std::string gguf_name(std::int64_t layer) const;
  std::string hf_name(std::int64_t layer, std::int64_t expert = 0) const;
};

/// All tensors that a family (config.json's model_type) may have; a file may lack some.
/// @throws Error(usage) if GGUF has no architecture for the family
std::vector<GgufRule> gguf_rules(std::string_view model_type);

/// The row of Hugging Face's matrix that is row `row` of the rotated one, with `d` rows in each head.
constexpr std::int64_t unrotated_row(std::int64_t row, std::int64_t d) {
  return row / d * d + row % d % 2 * (d / 2) + row % d / 2;
}

}  // namespace tril::model
