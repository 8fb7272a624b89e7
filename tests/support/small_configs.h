// A config.json for every family, those of Hugging Face and tril's own, small enough for tests.
#pragma once

#include <string>
#include <vector>

#include "support/small_decoders.h"
#include "support/small_encoder_decoders.h"

namespace tril::testing {

inline std::vector<std::string> small_configs() {
  std::vector<std::string> texts;
  for (const auto& list : {small_decoders(), small_encoder_decoders()})
    for (const nlohmann::json& config : list) texts.push_back(config.dump());
  for (const char* architecture : {"padded_decoder", "full_transformer", "learned_position_decoder", "tied_decoder"})
    texts.push_back(nlohmann::json{
        {"model_type", "tril"},
        {"architecture", architecture},
        {"vocab_size", 13},
        {"d_model", 8},
        {"num_heads", 2},
        {"d_ff", 12},
        {"num_layers", 1},
        {"max_length",
         9}}.dump());
  return texts;
}

}  // namespace tril::testing
