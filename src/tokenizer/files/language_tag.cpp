#include "tokenizer/files/language_tag.h"

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "base/printable.h"

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

std::string_view without_tag(std::string_view name) {
  for (const TagForm& form : tag_forms)
    if (const std::string_view inside = form.language_of(name); !inside.empty()) return inside;
  return name;
}

}  // namespace

std::vector<std::string> tagged_languages(const Tokenizer& tokenizer) {
  for (const TagForm& form : tag_forms)
    if (std::vector<std::string> list = languages_of(tokenizer, form); !list.empty()) return list;
  return {};
}

std::string language_tag(std::string_view name, const std::string& where) {
  const std::string_view inside = without_tag(name);
  if (inside.empty() || inside.find_first_of("<> \t") != std::string_view::npos)
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
  for (const TagForm& form : tag_forms)
    if (const std::string own = form.tag(without_tag(name)); tokenizer.find(own, Side::source)) return own + " ";
  const std::vector<std::string> all = tagged_languages(tokenizer);
  const bool more = all.size() > 20;
  const std::string known =
      fmt::format("{}{}", fmt::join(all.begin(), more ? all.begin() + 20 : all.end(), ", "), more ? ", ..." : "");
  fail_usage(where, fmt::format("the model's vocabulary has no {}", printable(tag)),
             known.empty() ? "it has no language tags: the model has one target language" : "it has " + known);
}

Languages choose_languages(const Tokenizer& tokenizer, std::string_view source, std::string_view target,
                           const std::string& source_where, const std::string& target_where) {
  const std::vector<std::string> known = tokenizer.languages();
  if (known.empty()) {
    if (!source.empty()) fail_usage(source_where, "the model has no source-language tokens", "leave it out");
    return {.prefix = target.empty() ? "" : language_prefix(tokenizer, target, target_where)};
  }
  const auto code = [&](std::string_view name, const std::string& where) -> std::string {
    for (const auto& [begin, end] : {std::pair{">>", "<<"}, std::pair{"__", "__"}})
      if (name.size() > 4 && name.starts_with(begin) && name.ends_with(end)) name = name.substr(2, name.size() - 4);
    if (name.empty() || std::find(known.begin(), known.end(), name) != known.end()) return std::string(name);
    std::string hint = did_you_mean(name, known);
    fail_usage(where, fmt::format("the model has no language \"{}\"", printable(name)),
               hint.empty() ? fmt::format("it has {}", fmt::join(known, ", ")) : hint);
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
