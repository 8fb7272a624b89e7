#include "decode/models/target_language.h"

#include <fmt/ranges.h>

#include "base/error.h"
#include "decode/texts/translation_text.h"

namespace tril {

TargetLanguage::TargetLanguage(const model::Model& model, const Tokenizer& tokenizer, std::string_view language,
                               bool forced)
    : tokenizer_(&tokenizer) {
  if (!language.empty() || forced) return;
  const std::vector<std::string> tokens = tokenizer.languages();
  if (tokens.empty()) tags_ = tagged_languages(tokenizer);
  if (tags_.size() < 2) tags_.clear();
  if (!search::starts_with_language(model, tokenizer)) tokens_ = tokens;
}

void TargetLanguage::check_tokens() const {
  if (tokens_.empty()) return;
  fail_usage("target_language", fmt::format("the target language, one of the model's {}, is not given", tokens_.size()),
             fmt::format("it has {}", fmt::join(tokens_, ", ")));
}

void TargetLanguage::check_tag(std::string_view text, const std::string& where) const {
  if (tags_.empty() || is_blank(text) || !leading_tag(*tokenizer_, text).empty()) return;
  fail_usage(where, fmt::format("the target language is not given; the model's languages: {}", fmt::join(tags_, ", ")),
             fmt::format("pass `target_language` {}, or - for texts without a tag, or begin each line with one: >>{}<<",
                         tags_.front(), tags_.front()));
}

}  // namespace tril
