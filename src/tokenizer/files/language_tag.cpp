#include "tokenizer/files/language_tag.h"

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "base/printable.h"
#include "language/match.h"

namespace tril {

namespace {

// The characters around a language in a vocabulary's tags.
struct TagForm {
  std::string_view begin, end;

  std::string tag(std::string_view language) const { return fmt::format("{}{}{}", begin, language, end); }
  /// The language of a tag; "" if the text is not a tag.
  std::string_view language_of(std::string_view text) const {
    if (text.size() <= begin.size() + end.size() || !text.starts_with(begin) || !text.ends_with(end)) return {};
    return text.substr(begin.size(), text.size() - begin.size() - end.size());
  }
};
constexpr TagForm opus_mt{">>", "<<"};
constexpr TagForm tag_forms[] = {opus_mt, {"<2", ">"}};  // the second: MADLAD-400 [Kudugunta et al. 2023]

std::vector<std::string> languages_of(const Tokenizer& tokenizer, const TagForm& form) {
  std::vector<std::string> list;
  for (std::int32_t id = 0; id < tokenizer.size(Side::source); ++id) {
    try {
      if (const auto language = form.language_of(tokenizer.piece(id, Side::source)); !language.empty())
        list.emplace_back(language);
    } catch (const Error&) {
      continue;  // a gap in the ids
    }
  }
  return list;
}

}  // namespace

std::vector<std::string> tagged_languages(const Tokenizer& tokenizer) {
  for (const TagForm& form : tag_forms)
    if (std::vector<std::string> list = languages_of(tokenizer, form); !list.empty()) return list;
  return {};
}

std::string language_tag(std::string_view name, const std::string& where) {
  const std::string_view inside = without_marks(name);
  const auto is_foreign = [](unsigned char c) { return c <= ' ' || c == 0x7f || c == '<' || c == '>'; };
  if (inside.empty() || std::any_of(inside.begin(), inside.end(), is_foreign))
    fail_usage(where, fmt::format("expected a language name, got \"{}\"", printable(name)), "for example de or >>de<<");
  return opus_mt.tag(inside);
}

std::string leading_tag(const Tokenizer& tokenizer, std::string_view text) {
  for (const TagForm& form : tag_forms) {
    const std::size_t end = text.starts_with(form.begin) ? text.find(form.end) : std::string_view::npos;
    if (end == std::string_view::npos || end <= form.begin.size()) continue;
    const std::string_view tag = text.substr(0, end + form.end.size());
    if (tokenizer.find(tag, Side::source)) return std::string(tag) + " ";
  }
  return "";
}

std::string language_prefix(const Tokenizer& tokenizer, std::string_view name, const std::string& where) {
  if (name == "-" && !tagged_languages(tokenizer).empty()) return "";
  const std::string tag = language_tag(name, where);
  const auto own = [&](std::string_view language) -> std::string {
    for (const TagForm& form : tag_forms)
      if (std::string found = form.tag(language); tokenizer.find(found, Side::source)) return found + " ";
    return "";
  };
  if (std::string prefix = own(without_marks(name)); !prefix.empty()) return prefix;
  const KnownLanguages known(tagged_languages(tokenizer));
  if (const auto at = known.find(name)) return own(known.names()[*at]);
  fail_usage(where, fmt::format("the model's vocabulary has no {}", printable(tag)),
             known.empty() ? "it has no language tags: the model has one target language" : known.hint(name));
}

Languages choose_languages(const Tokenizer& tokenizer, std::string_view source, std::string_view target,
                           const std::string& source_where, const std::string& target_where) {
  const std::vector<std::string> names = tokenizer.languages();
  if (names.empty()) {
    if (!source.empty()) fail_usage(source_where, "the model has no source-language tokens", "leave it out");
    return {.prefix = target.empty() ? "" : language_prefix(tokenizer, target, target_where)};
  }
  const auto code = [&](std::string_view name, const std::string& where) -> std::string {
    if (name.empty() || std::find(names.begin(), names.end(), name) != names.end()) return std::string(name);
    const KnownLanguages known(names);
    if (const auto at = known.find(name)) return known.names()[*at];
    fail_usage(where, fmt::format("the model has no language \"{}\"", printable(name)), known.hint(name));
  };
  return {.prefix = "", .source = code(source, source_where), .target = code(target, target_where)};
}

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n\v\f") == text.npos;
}

std::string prepend_language_tag(const std::string& prefix, const std::string& text) {
  return is_blank(text) ? text : prefix + text;
}

}  // namespace tril
