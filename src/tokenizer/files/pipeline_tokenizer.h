// The tokenizer that tokenizer_parts.h describes.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tokenizer/files/tokenizer.h"
#include "tokenizer/pipeline/tokenizer_parts.h"

namespace tril {

/// How a text says its language by a token of its own (id of languages).
enum class LanguageFrame : std::uint8_t {
  none,    ///< it does not
  prefix,  ///< lang X </s>: mBART-50, M2M100, NLLB
  suffix,  ///< X </s> lang: mBART, NLLB's legacy behaviour
};

/// What a tokenizer is besides its parts: what tokenizer_config.json says.
struct TokenizerSettings {
  std::string where = "tokenizer";  ///< names it in errors
  SpecialIds special;
  std::vector<std::pair<std::string, std::string>> special_tokens;  ///< "bos_token" and its text, ...
  std::vector<std::pair<std::string, std::string>> chat_templates;  ///< "default" and its Jinja, ...
  std::int32_t model_max_length = 1 << 30;
  bool clean_up_spaces = false;  ///< of decoded text
  bool strip_decoded = false;    ///< no white space at the ends of decoded text
  LanguageFrame language_frame = LanguageFrame::none;
  std::vector<std::pair<std::string, std::int32_t>> languages;  ///< code and id of its token
  std::string source_language, target_language;                 ///< where nobody asks for another
  std::vector<TokenizerFile> files;  ///< from which the tokenizer was read; empty: files() writes tokenizer.json
};

/// All that makes a tokenizer, before it is made: what one file form is read into and another is written from.
struct TokenizerDescription {
  TokenizerParts parts;
  TokenizerSettings settings;
};

/// The description of what load_tokenizer() loads, but for Marian's two models.
/// @throws Error naming the file that is missing or wrong
TokenizerDescription describe_tokenizer(const std::string& path);

/// Whether a directory holds a tokenizer's files, whatever they are worth.
bool has_tokenizer(const std::string& path);

/// @throws Error for parts that do not fit together
std::shared_ptr<const Tokenizer> make_pipeline_tokenizer(TokenizerParts parts, TokenizerSettings settings);

}  // namespace tril
