// tokenizer_config.json and related files (special_tokens_map.json, chat_template.jinja, added_tokens.json) of a
// Hugging Face directory: a tokenizer's settings besides its parts. The model's files (generation_config.json,
// config.json) supply what they leave out.
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
  std::string tokenizer_class;  ///< default: that of config.json, or of its model family
  bool is_there = false;        ///< whether there is a tokenizer_config.json or a special_tokens_map.json
  SpecialIds of_model;          ///< special ids in generation_config.json, else in config.json
  std::vector<std::pair<std::string, std::string>> special_tokens;  ///< "bos_token" and its text, ...; in a fixed order
  std::vector<std::string> additional_special_tokens;
  std::vector<AddedToken> added_tokens;  ///< added_tokens_decoder, added_tokens.json; by id
  std::int32_t model_ids = std::numeric_limits<std::int32_t>::max();  ///< rows of the model, from config.json
  std::optional<bool> add_bos_token, add_eos_token, add_prefix_space;
  bool clean_up_spaces = false, legacy_behaviour = false;
  std::optional<std::int32_t> model_max_length;
  std::string source_language, target_language;  ///< src_lang and tgt_lang
  StatedLanguages stated_languages;              ///< the same, unless source_lang and target_lang differ
  std::string language_codes;                    ///< M2M100's: the name of its list of languages
  std::optional<std::int32_t> extra_ids;         ///< T5's
  std::vector<std::pair<std::string, std::string>> chat_templates;
  std::vector<TokenizerFile> files;  ///< the files that were read

  /// The text of a special token ("eos_token"); "" if there is none.
  std::string special(std::string_view name) const;
  /// Sets a special token that is not set yet.
  void set_default(std::string_view name, std::string_view text);
  /// If no file names special tokens, takes the model's beginning, end and padding. `text_of` gives a piece by its id,
  /// "" if there is none.
  void name_ids_of_model(const std::function<std::string(std::int32_t)>& text_of);
  /// Removes tokens without a row in the model: published directories have a "[PAD]" after the last row, which is never
  /// used.
  void keep_ids_of_model(std::vector<AddedToken>& tokens) const;
};

/// Reads the directory's configuration; everything is optional.
/// @throws Error naming a file that is not JSON, or a value of the wrong type
TokenizerConfig read_tokenizer_config(const std::string& directory);

/// The text of tokenizer_config.json.
std::string tokenizer_config_json(const TokenizerConfig& config);

/// A file of a directory, or nothing if it does not exist. Tokenizer files may have at most 256 MiB.
std::optional<TokenizerFile> read_tokenizer_file(const std::string& directory, const std::string& name);

}  // namespace tril
