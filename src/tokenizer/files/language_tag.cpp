#include "tokenizer/files/language_tag.h"

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "base/printable.h"

namespace tril {

std::vector<std::string> tagged_languages(const Tokenizer& tokenizer) {
  std::vector<std::string> list;
  for (std::int32_t id = 0; id < tokenizer.size(Side::source); ++id) {
    std::string_view piece;
    try {
      piece = tokenizer.piece(id, Side::source);
    } catch (const Error&) {
      continue;  // a gap in the ids
    }
    if (piece.size() > 4 && piece.starts_with(">>") && piece.ends_with("<<"))
      list.emplace_back(piece.substr(2, piece.size() - 4));
  }
  return list;
}

std::string language_tag(std::string_view name, const std::string& where) {
  std::string_view inside = name;
  if (inside.starts_with(">>") && inside.ends_with("<<") && inside.size() > 4)
    inside = inside.substr(2, inside.size() - 4);
  if (inside.empty() || inside.find_first_of("<> \t") != std::string_view::npos)
    fail_usage(where, fmt::format("expected a language name, got \"{}\"", printable(name)), "for example de or >>de<<");
  return fmt::format(">>{}<<", inside);
}

std::string leading_tag(const Tokenizer& tokenizer, std::string_view text) {
  const std::size_t end = text.starts_with(">>") ? text.find("<<") : std::string_view::npos;
  if (end == std::string_view::npos || end == 2) return "";
  const std::string_view tag = text.substr(0, end + 2);
  return tokenizer.find(tag, Side::source) ? std::string(tag) + " " : "";
}

std::string language_prefix(const Tokenizer& tokenizer, std::string_view name, const std::string& where) {
  if (name == "-" && !tagged_languages(tokenizer).empty()) return "";
  const std::string tag = language_tag(name, where);
  if (!tokenizer.find(tag, Side::source)) {
    const std::vector<std::string> all = tagged_languages(tokenizer);
    const bool more = all.size() > 20;
    const std::string known =
        fmt::format("{}{}", fmt::join(all.begin(), more ? all.begin() + 20 : all.end(), ", "), more ? ", ..." : "");
    fail_usage(where, fmt::format("the model's vocabulary has no {}", printable(tag)),
               known.empty() ? "it has no language tags: the model has one target language" : "it has " + known);
  }
  return tag + " ";
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
