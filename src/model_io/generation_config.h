// How a model's publisher wants it to generate: generation_config.json, or where that is missing the same keys of
// config.json, as `transformers` reads them. Keys that are absent or null are nothing here; what they default to is the
// searcher's affair.
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
  /// What it says of the search. `sampling` is always set: do_sample, without a beam.
  SearchOptions search;
  /// Lengths of the whole sequence, the start token or prompt counted; new tokens count without it. EOS counts for a
  /// maximum; a minimum is reached before EOS.
  std::optional<std::int64_t> max_length, max_new_tokens, min_length, min_new_tokens;

  std::vector<std::int32_t> eos_token_ids;
  std::optional<std::int32_t> pad_token_id, bos_token_id, decoder_start_token_id;
  std::optional<std::int32_t> forced_bos_token_id, forced_eos_token_id;
  std::vector<std::vector<std::int32_t>> bad_words_ids;
  std::vector<std::int32_t> suppress_tokens, begin_suppress_tokens;
  bool renormalize_logits = false;
  /// [[layer, head], ...] of the decoder, from 0, as Whisper's directories have it; where they name heads of one layer.
  std::optional<AlignmentHeads> alignment_heads;

  /// Keys that ask for what tril does not do ("eta_cutoff 0.1"), for a warning.
  std::vector<std::string> not_obeyed;
};

/// @param document  generation_config.json, or config.json
/// @throws Error naming file and key where a value is not what it should be
GenerationConfig read_generation_config(const JsonObject& document);

/// Its alignment_heads alone; nothing where there are none.
std::optional<AlignmentHeads> read_alignment_heads(const JsonObject& document);

/// The generation_config.json that says what config.json says of generation.
nlohmann::json generation_of_config(const JsonObject& config);

}  // namespace tril::model
