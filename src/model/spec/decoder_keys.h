// Keys of config.json that many families share, for any config struct that has them as members.
#pragma once

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "model/spec/config_reader.h"

namespace tril::model {

/// A size whose default is its present value.
inline void read_size(ConfigReader& config, const char* key, std::int64_t& value, std::int64_t most) {
  value = config.size(key, value);
  check_size(config.json(), key, value, most);
}

/// The largest sizes of published decoders.
struct MostDecoderSizes {
  static constexpr std::int64_t vocab_size = std::numeric_limits<std::int32_t>::max(), hidden_size = 1 << 16,
                                intermediate_size = 1 << 20, num_layers = 1000, num_heads = 1 << 12;
};

/// A token id as config.json has it: null for -1.
inline nlohmann::ordered_json id_json(std::int32_t id) {
  return id < 0 ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(id);
}

/// bos_token_id, eos_token_id, pad_token_id, within the vocabulary.
template <class Config>
void read_special_ids(ConfigReader& config, Config& k) {
  for (const auto& [key, id] : {std::pair{"bos_token_id", &k.bos_token_id},
                                {"eos_token_id", &k.eos_token_id},
                                {"pad_token_id", &k.pad_token_id}})
    *id = config.id_of(key, *id, k.vocab_size);
}

/// Ignores the keys of summary heads, which language models do not have.
inline void ignore_summary_keys(ConfigReader& config) {
  config.ignore(
      {"summary_type", "summary_use_proj", "summary_activation", "summary_first_dropout", "summary_proj_to_labels"});
}

/// Sizes, initialisation, dropout and special tokens. `k` holds the defaults of absent keys.
template <class Config>
void read_decoder_keys(ConfigReader& config, Config& k) {
  const auto size = [&](const char* key, std::int64_t& value, std::int64_t most) {
    read_size(config, key, value, most);
  };
  using Most = MostDecoderSizes;
  size("vocab_size", k.vocab_size, Most::vocab_size);
  size("hidden_size", k.hidden_size, Most::hidden_size);
  size("intermediate_size", k.intermediate_size, Most::intermediate_size);
  size("num_hidden_layers", k.num_hidden_layers, Most::num_layers);
  size("num_attention_heads", k.num_attention_heads, Most::num_heads);
  size("max_position_embeddings", k.max_position_embeddings, 1 << 30);
  k.initializer_range = config.at_least_0("initializer_range", k.initializer_range);
  k.tie_word_embeddings = config.get<bool>("tie_word_embeddings", k.tie_word_embeddings);
  k.attention_dropout = config.share("attention_dropout");
  read_special_ids(config, k);
}

/// Throws an Error if the model's width is not a multiple of the number of heads.
template <class Config>
void check_heads_divide(const ConfigReader& config, const Config& k) {
  if (k.hidden_size % k.num_attention_heads != 0)
    config.json().fail_at("num_attention_heads",
                          fmt::format("{} {} is not divisible by {} heads", config.json().name_of("hidden_size"),
                                      k.hidden_size, k.num_attention_heads));
}

/// Writes these keys, and those that identify the directory.
template <class Config>
nlohmann::ordered_json decoder_keys_json(const Config& k) {
  return {{"architectures", {k.architecture}},
          {"model_type", k.family},
          {"vocab_size", k.vocab_size},
          {"hidden_size", k.hidden_size},
          {"intermediate_size", k.intermediate_size},
          {"num_hidden_layers", k.num_hidden_layers},
          {"num_attention_heads", k.num_attention_heads},
          {"max_position_embeddings", k.max_position_embeddings},
          {"initializer_range", k.initializer_range},
          {"attention_dropout", k.attention_dropout},
          {"bos_token_id", id_json(k.bos_token_id)},
          {"eos_token_id", id_json(k.eos_token_id)},
          {"pad_token_id", id_json(k.pad_token_id)},
          {"tie_word_embeddings", k.tie_word_embeddings},
          {"torch_dtype", "float32"},
          {"use_cache", true}};
}

}  // namespace tril::model
