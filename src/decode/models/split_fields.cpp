#include "decode/models/split_fields.h"

#include <fmt/format.h>

#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "language/code.h"

namespace tril {
namespace {

Split split_named(const std::string& text, const std::string& where) {
  for (const auto& [name, value] : split_names)
    if (text == name) return value;
  fail_usage(where, fmt::format("expected none, lines or sentences, got \"{}\"", text));
}

std::string name_of_split(const Split& split) {
  for (const auto& [name, value] : split_names)
    if (split == value) return std::string(name);
  return "";
}

// The first language that is given, as a code of ISO 639.
std::string first_given(std::initializer_list<std::string_view> codes) {
  for (const std::string_view code : codes)
    if (const std::optional<Language> language = find_language(code)) return language->language;
  return "";
}

}  // namespace

void add_split_fields(Fields& f, SplitLineOptions& o) {
  std::vector<std::string> choices;
  for (const auto& [name, value] : split_names) choices.emplace_back(name);
  f.add("split", &o.split,
        "none: translate each line whole, and cut off what exceeds the model's positions, with a warning; lines: "
        "translate a line that exceeds them in parts, cut at clauses; sentences: translate each sentence of a line by "
        "itself, and cut long ones too. The translations of a line are joined with the white space of the source",
        TextForm<Split>{split_named, name_of_split})
      .choices(std::move(choices))
      .value_name("HOW");
  f.add("split-language", &o.language,
        "language of the text (en, eng, eng_Latn), whose abbreviations `split` sentences then uses; unset: as "
        "`source_language` or the model's directory says, else the abbreviations of all languages are used")
      .value_name("NAME");
}

search::SplitOptions split_options(const SplitLineOptions& o, const Languages& languages, const std::string& target,
                                   const StatedLanguages& stated) {
  const std::string language = o.language.empty() ? "" : language_of(o.language, "split_language").language;
  return {.split = o.split,
          .source_language = first_given({language, languages.source, stated.source}),
          .target_language = first_given({languages.target, target, stated.target})};
}

}  // namespace tril
