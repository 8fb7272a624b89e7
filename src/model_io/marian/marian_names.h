// The names and layouts of the weights of the family marian_nmt in Marian's files.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace tril::model {

/// A weight's layout in Marian's files -> in the model.
enum class MarianLayout : std::uint8_t {
  transposed,  ///< [in, out] -> [out, in]
  vector,      ///< [1, n] -> [n]
  rows,        ///< [words, d] -> [rows, d]; added rows are zero
  logits_bias  ///< [1, words] -> [1, rows]; added words are impossible
};

struct MarianTensor {
  std::string marian, here;  ///< its names in Marian's files and in the model
  MarianLayout layout = MarianLayout::transposed;
};

/// All weights of a model, embeddings first.
/// @param config  config.json of the family marian_nmt
/// @param has_transposed_output  the untied output matrix is decoder_ff_logit_out_W [d, words], as in old versions; else it
///   is decoder_ff_logit_out_Wt [words, d]
std::vector<MarianTensor> marian_tensors(const nlohmann::json& config, bool has_transposed_output);

}  // namespace tril::model
