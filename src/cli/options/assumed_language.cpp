#include "cli/options/assumed_language.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "decode/texts/translation_text.h"

namespace tril::cli {

void warn_of_assumed_language(const std::string& directory, const Tokenizer& tokenizer, const Languages& languages) {
  const std::vector<std::string> known = tokenizer.languages();
  if (known.empty() || !languages.source.empty() || !tokenizer.stated_languages().source.empty()) return;
  TextFrame frame = tokenizer.frame(Side::source);
  frame.prefix.insert(frame.prefix.end(), frame.suffix.begin(), frame.suffix.end());
  for (const std::string& code : known)
    if (std::find(frame.prefix.begin(), frame.prefix.end(), tokenizer.language_id(code)) != frame.prefix.end())
      spdlog::warn("{}: the source language, one of {}, is not given; assuming {}, pass --source-language to set it",
                   directory, known.size(), code);
}

TargetLanguage::TargetLanguage(const model::Model& model, const Tokenizer& tokenizer, std::string_view said,
                               bool forced)
    : tokenizer_(&tokenizer) {
  if (!said.empty() || forced) return;
  const std::vector<std::string> tokens = tokenizer.languages();
  if (tokens.empty()) tags_ = tagged_languages(tokenizer);
  if (tags_.size() < 2) tags_.clear();
  if (!search::starts_with_language(model, tokenizer)) tokens_ = tokens;
}

void TargetLanguage::check_tokens() const {
  if (tokens_.empty()) return;
  fail_usage("--target-language",
             fmt::format("the target language, one of the model's {}, is not given", tokens_.size()),
             fmt::format("it has {}", fmt::join(tokens_, ", ")));
}

void TargetLanguage::check_tag(std::string_view text, const std::string& where) const {
  if (tags_.empty() || is_blank(text) || !leading_tag(*tokenizer_, text).empty()) return;
  fail_usage(where, fmt::format("the target language is not given; the model's languages: {}", fmt::join(tags_, ", ")),
             fmt::format("pass --target-language {}, or - for texts without a tag, or begin each line with one: >>{}<<",
                         tags_.front(), tags_.front()));
}

}  // namespace tril::cli
