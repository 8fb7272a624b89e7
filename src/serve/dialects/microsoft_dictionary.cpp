#include "serve/dialects/microsoft_dictionary.h"

#include <optional>

namespace tril::serve {
namespace {

constexpr std::string_view begins = "<mstrans:dictionary", ends = "</mstrans:dictionary>";
constexpr std::string_view fixed_begins = "<span translate=\"no\" class=\"mstrans-dictionary\">",
                           fixed_ends = "</span>";

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

// The next opening tag of such an element; npos if there is none.
std::size_t find_tag(std::string_view html) {
  std::size_t at = html.find(begins);
  while (at != html.npos && at + begins.size() < html.size() && !is_blank(html[at + begins.size()]))
    at = html.find(begins, at + 1);
  return at == html.npos || at + begins.size() >= html.size() ? html.npos : at;
}

// The '>' that ends the tag at a byte: one that is not in quotes; npos if there is none.
std::size_t end_of_tag(std::string_view html, std::size_t at) {
  char quote = 0;
  for (std::size_t i = at; i < html.size(); ++i) {
    const char c = html[i];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '>') {
      return i;
    }
  }
  return html.npos;
}

// The value of the attribute in a tag, as it is written; nothing if there is none.
std::optional<std::string_view> translation_in(std::string_view tag) {
  constexpr std::string_view name = "translation=";
  std::size_t at = tag.find(name);
  while (at != tag.npos && (at == 0 || !is_blank(tag[at - 1]))) at = tag.find(name, at + 1);
  if (at == tag.npos || at + name.size() >= tag.size()) return std::nullopt;
  const char quote = tag[at + name.size()];
  if (quote != '"' && quote != '\'') return std::nullopt;
  const std::string_view rest = tag.substr(at + name.size() + 1);
  const std::size_t end = rest.find(quote);
  if (end == 0 || end == rest.npos) return std::nullopt;
  return rest.substr(0, end);
}

}  // namespace

bool has_dictionary_words(std::string_view text) {
  return find_tag(text) != text.npos;
}

std::string with_dictionary_words(std::string_view html) {
  std::string text;
  for (;;) {
    const std::size_t at = find_tag(html);
    const std::size_t tag_end = at == html.npos ? html.npos : end_of_tag(html, at);
    const std::size_t end = tag_end == html.npos ? html.npos : html.find(ends, tag_end);
    if (end == html.npos) return text += html;
    text += html.substr(0, at);
    if (const auto words = translation_in(html.substr(at, tag_end - at)); words && words->find('<') == words->npos)
      text.append(fixed_begins).append(*words).append(fixed_ends);
    else
      text += html.substr(at, end + ends.size() - at);
    html.remove_prefix(end + ends.size());
  }
}

std::string without_dictionary_marks(std::string_view html) {
  std::string text;
  for (;;) {
    const std::size_t at = html.find(fixed_begins);
    const std::size_t words = at == html.npos ? html.npos : at + fixed_begins.size();
    const std::size_t end = at == html.npos ? html.npos : html.find(fixed_ends, words);
    if (end == html.npos) return text += html;
    text.append(html.substr(0, at)).append(html.substr(words, end - words));
    html.remove_prefix(end + fixed_ends.size());
  }
}

}  // namespace tril::serve
