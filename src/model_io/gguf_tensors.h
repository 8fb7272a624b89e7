// What the tensors of a GGUF file are called in Hugging Face's files of the same family, and in which form each has
// them. Names are those of ggml's gguf package (constants.py, tensor_mapping.py).
//
// Rotary positions turn pairs of a head's values: (i, i + d/2) as Hugging Face numbers them, (2 i, 2 i + 1) as llama.cpp
// computes them for the architectures llama and granite. Rows of their query and key matrices are therefore in another
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
    rotated_queries,  ///< rows of each head in pairs
    rotated_keys,
    transposed,  ///< Hugging Face has [in, out]
    offset,      ///< Hugging Face has it less one
    experts,     ///< GGUF has all experts' matrices in one tensor [experts, out, in]; "{e}" stands for one in `hf`
  };
  std::string gguf,
      hf;  ///< "{}" stands for the layer: "blk.{}.attn_q.weight", "model.layers.{}.self_attn.q_proj.weight"
  Form form = Form::same;

  bool in_layers() const { return gguf.find("{}") != gguf.npos; }
  std::string gguf_name(std::int64_t layer) const;
  std::string hf_name(std::int64_t layer, std::int64_t expert = 0) const;
};

/// All tensors that a family (config.json's model_type) may have; Error(usage) where there is no architecture of GGUF
/// for it. A file that has fewer is not refused here.
std::vector<GgufRule> gguf_rules(std::string_view model_type);

/// The row of Hugging Face's matrix that is row `row` of a rotated one, heads having `d` rows each.
constexpr std::int64_t unrotated_row(std::int64_t row, std::int64_t d) {
  return row / d * d + row % d % 2 * (d / 2) + row % d / 2;
}

}  // namespace tril::model
