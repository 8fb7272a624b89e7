// tokenizer_config.json and its companions (special_tokens_map.json, chat_template.jinja, added_tokens.json) of a Hugging
// Face directory: what a tokenizer is besides its parts. What they do not say, the model's files (generation_config.json,
// config.json) may.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/special_ids.h"
#include "tokenizer/files/tokenizer.h"
#include "tokenizer/pipeline/tokenizer_parts.h"

namespace tril {

struct TokenizerConfig {
  std::string tokenizer_class;  ///< where the file does not say: that of config.json, or of the model's family there
  bool is_there = false;        ///< whether there is a tokenizer_config.json or a special_tokens_map.json
  SpecialIds of_model;          ///< what generation_config.json, and config.json where it does not, say of ids
  std::vector<std::pair<std::string, std::string>> special_tokens;  ///< "bos_token" and its text, ...; in a fixed order
  std::vector<std::string> additional_special_tokens;
  std::vector<AddedToken> added_tokens;  ///< added_tokens_decoder, added_tokens.json; by id
  std::int32_t model_ids = std::numeric_limits<std::int32_t>::max();  ///< that the model beside it has: config.json's
  std::optional<bool> add_bos_token, add_eos_token, add_prefix_space;
  bool clean_up_spaces = false, legacy_behaviour = false;
  std::optional<std::int32_t> model_max_length;
  std::string source_language, target_language;
  std::string language_codes;             ///< M2M100's: which list of languages it has
  std::optional<std::int32_t> extra_ids;  ///< T5's
  std::vector<std::pair<std::string, std::string>> chat_templates;
  std::vector<TokenizerFile> files;  ///< those that were read

  /// The text of a special token ("eos_token"); "" where there is none.
  std::string special(std::string_view name) const;
  /// Sets it unless there is one.
  void set_default(std::string_view name, std::string_view text);
  /// Where no file names special tokens, those of the model do: its beginning, its end and its padding. `text_of` gives a
  /// piece by its id, "" where there is none.
  void name_ids_of_model(const std::function<std::string(std::int32_t)>& text_of);
  /// Takes out the tokens that the model beside it has no row for: published directories have a "[PAD]" behind the last
  /// one, which nothing ever uses.
  void keep_ids_of_model(std::vector<AddedToken>& tokens) const;
};

/// What the directory says; everything is optional.
/// @throws Error naming the file that is no JSON, or a value that is of the wrong kind
TokenizerConfig read_tokenizer_config(const std::string& directory);

/// The text of tokenizer_config.json.
std::string tokenizer_config_json(const TokenizerConfig& config);

/// A file of a directory, or nothing where it is not there. Files of a tokenizer are 256 MiB at most.
std::optional<TokenizerFile> read_tokenizer_file(const std::string& directory, const std::string& name);

}  // namespace tril
