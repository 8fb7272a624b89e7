#include "decode/models/language_pair.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/printable.h"
#include "language/code.h"
#include "tokenizer/files/language_tag.h"

namespace tril {

std::optional<StatedLanguages> language_pair_in(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == 0 || colon == std::string_view::npos || colon + 1 == text.size() ||
      text.find_first_of(": \t", colon + 1) != std::string_view::npos ||
      text.substr(0, colon).find_first_of(" \t") != std::string_view::npos)
    return std::nullopt;
  return StatedLanguages{std::string(text.substr(0, colon)), std::string(text.substr(colon + 1))};
}

void add_language_pair_field(Fields& f, std::string& languages) {
  f.add("languages", &languages,
        "source and target language of a model of one pair, if its files and its name state none or wrong ones: en:de; "
        "for a "
        "model with tags, en:-")
      .value_name("FROM:TO");
}

StatedLanguages stated_pair(const std::string& text, const Tokenizer& tokenizer, bool has_encoder) {
  const std::string where = "languages";
  const std::optional<StatedLanguages> pair = language_pair_in(text);
  if (!pair)
    fail_usage(where, fmt::format("expected FROM:TO, got \"{}\"", printable(text, 60)),
               "for example en:de, if the model translates from English into German");
  const char* instead = "leave it out, and pass `source_language` and `target_language`";
  if (!has_encoder)
    fail_usage(where, "is for models of one pair; this is a language model, whose prompt names them", instead);
  if (!tokenizer.languages().empty())
    fail_usage(where, "is for models of one pair; this model's vocabulary lists its languages", instead);
  const bool has_tags = !tagged_languages(tokenizer).empty();
  if (has_tags && pair->target != "-")
    fail_usage(where, fmt::format("the model has tags for several target languages, got \"{}\"", printable(text, 60)),
               fmt::format("pass {}:- as `languages`, and {} as `target_language`", printable(pair->source, 20),
                           printable(pair->target, 20)));
  language_of(pair->source, where);
  if (has_tags) return {pair->source, ""};
  language_of(pair->target, where);
  return *pair;
}

}  // namespace tril
