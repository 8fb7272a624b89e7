#include "serve/dialects/microsoft_dictionary.h"

#include <optional>

namespace tril::serve {
namespace {

constexpr std::string_view begins = "<mstrans:dictionary ", ends = "</mstrans:dictionary>";
constexpr std::string_view fixed_begins = "<span translate=\"no\" class=\"mstrans-dictionary\">",
                           fixed_ends = "</span>";

// The value of the attribute in a tag, as it is written; nothing if there is none.
std::optional<std::string_view> translation_in(std::string_view tag) {
  constexpr std::string_view name = "translation=";
  const std::size_t at = tag.find(name);
  if (at == tag.npos || at + name.size() >= tag.size()) return std::nullopt;
  const char quote = tag[at + name.size()];
  if (quote != '"' && quote != '\'') return std::nullopt;
  const std::string_view rest = tag.substr(at + name.size() + 1);
  const std::size_t end = rest.find(quote);
  if (end == 0 || end == rest.npos) return std::nullopt;
  return rest.substr(0, end);
}

}  // namespace

std::string with_dictionary_words(std::string_view html) {
  std::string text;
  for (;;) {
    const std::size_t at = html.find(begins);
    const std::size_t tag_end = at == html.npos ? html.npos : html.find('>', at);
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
