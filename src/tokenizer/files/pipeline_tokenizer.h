// The tokenizer that runs the parts of tokenizer_parts.h.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tokenizer/files/tokenizer.h"
#include "tokenizer/pipeline/tokenizer_parts.h"

namespace tril {

/// Where the language token of a text goes.
enum class LanguageFrame : std::uint8_t {
  none,    ///< no language token
  prefix,  ///< lang X </s>: mBART-50, M2M100, NLLB
  suffix,  ///< X </s> lang: mBART, NLLB's legacy behaviour
};

/// A tokenizer's settings besides its parts: the contents of tokenizer_config.json.
struct TokenizerSettings {
  std::string where = "tokenizer";  ///< names it in errors
  SpecialIds special;
  std::vector<std::pair<std::string, std::string>> special_tokens;  ///< "bos_token" and its text, ...
  std::vector<std::pair<std::string, std::string>> chat_templates;  ///< "default" and its Jinja, ...
  std::int32_t model_max_length = 1 << 30;
  bool clean_up_spaces = false;  ///< of decoded text
  bool strip_decoded = false;    ///< removes white space at the ends of decoded text
  LanguageFrame language_frame = LanguageFrame::none;
  std::vector<std::pair<std::string, std::int32_t>> languages;  ///< code and id of its token
  std::string source_language, target_language;                 ///< the defaults
  StatedLanguages stated_languages;
  std::vector<TokenizerFile> files;  ///< the files it was read from; empty: files() writes tokenizer.json
};

/// Everything that makes a tokenizer: readers of one file format produce it, and writers of another consume it.
struct TokenizerDescription {
  TokenizerParts parts;
  TokenizerSettings settings;
};

/// The description that load_tokenizer() builds from; Marian's tokenizer with two models has none.
/// @throws Error naming the file that is missing or wrong
TokenizerDescription describe_tokenizer(const std::string& path);

/// Whether a directory holds a tokenizer's files, valid or not.
bool has_tokenizer(const std::string& path);

/// @throws Error for inconsistent parts
std::shared_ptr<const Tokenizer> make_pipeline_tokenizer(TokenizerParts parts, TokenizerSettings settings);

}  // namespace tril
