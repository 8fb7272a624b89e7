// The publisher's generation defaults: generation_config.json or, if that is missing, the same keys of config.json,
// read as in `transformers`. Absent and null keys stay unset; the search has their defaults.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "format/json_file.h"
#include "model/spec/model.h"
#include "settings/search_options.h"

namespace tril::model {

struct GenerationConfig {
  std::string where;  ///< the file, for errors and warnings
  /// The search options. `sampling` is always set: do_sample, without beams.
  SearchOptions search;
  /// max_length and min_length count the whole sequence, with the start token or prompt; the new_tokens variants do
  /// not. EOS counts toward a maximum; a minimum must be reached before EOS.
  std::optional<std::int64_t> max_length, max_new_tokens, min_length, min_new_tokens;

  std::vector<std::int32_t> eos_token_ids;
  std::optional<std::int32_t> pad_token_id, bos_token_id, decoder_start_token_id;
  std::optional<std::int32_t> forced_bos_token_id, forced_eos_token_id;
  std::vector<std::vector<std::int32_t>> bad_words_ids;
  std::vector<std::int32_t> suppress_tokens, begin_suppress_tokens;
  bool renormalize_logits = false;
  /// [[layer, head], ...] of the decoder, from 0, as in Whisper's directories; set if all heads are in one layer.
  std::optional<nn::AttentionHeads> alignment_heads;

  /// Unsupported keys that would change results ("eta_cutoff 0.1"), for a warning.
  std::vector<std::string> not_obeyed;
};

/// @param document  generation_config.json, or config.json
/// @throws Error naming file and key if a value is invalid
GenerationConfig read_generation_config(const JsonObject& document);

/// @throws Error naming file and key if an id is not in the vocabulary
void check_ids(const GenerationConfig& g, std::int64_t vocab_size);

/// The tokens of eos_token_id alone, one id or several; -1 is none.
std::vector<std::int32_t> read_end_tokens(const JsonObject& document);

/// Reads alignment_heads only; nothing if there are none.
std::optional<nn::AttentionHeads> read_alignment_heads(const JsonObject& document);

/// A generation_config.json made of the generation keys of config.json, and of its decoder's if it has a config of its own.
/// Absent keys have the values of the family's config class in `transformers`.
nlohmann::json generation_of_config(const JsonObject& config);

}  // namespace tril::model
