// The names of the weights of the family marian_nmt in Marian's files, and how they are stored there.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace tril::model {

/// How Marian stores a weight -> how it is here.
enum class MarianLayout : std::uint8_t {
  transposed,  ///< [in, out] -> [out, in]
  vector,      ///< [1, n] -> [n]
  rows,        ///< [words, d] -> [rows, d], more rows being zero
  logits_bias  ///< [1, words] -> [1, rows], what is more being impossible
};

struct MarianTensor {
  std::string marian, here;  ///< its names
  MarianLayout layout = MarianLayout::transposed;
};

/// All weights of a model, embeddings first.
/// @param config  config.json of the family marian_nmt
/// @param has_transposed_output  an output matrix that is not tied is decoder_ff_logit_out_W [d, words], as old versions wrote it;
///   else decoder_ff_logit_out_Wt [words, d]
std::vector<MarianTensor> marian_tensors(const nlohmann::json& config, bool has_transposed_output);

}  // namespace tril::model
