#include "serve/dialects/microsoft_places.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <set>

#include "unicode/word_boundary.h"

namespace tril::serve {
namespace {

bool is_inside_character(char c) {
  return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

// The number of units before each byte of a text, and before its end.
std::vector<std::size_t> units_before(std::string_view text) {
  std::vector<std::size_t> units(text.size() + 1);
  for (std::size_t i = 0; i < text.size(); ++i) units[i + 1] = units[i] + utf16_units(text.substr(i, 1));
  return units;
}

// The bytes of the words in which a part of a text begins and ends.
std::pair<std::size_t, std::size_t> whole_words(std::string_view text, std::size_t begin, std::size_t end) {
  const auto is_within = [&](std::size_t at) {
    return at > 0 && at < text.size() && (is_inside_character(text[at]) || !is_word_boundary(text, at));
  };
  while (is_within(begin)) --begin;
  while (is_within(end)) ++end;
  return {begin, end};
}

std::vector<std::size_t> lengths(const Json& places, const char* side, std::string_view text) {
  const std::vector<std::size_t> units = units_before(text);
  std::vector<std::size_t> list;
  std::size_t begin = 0;
  for (std::size_t k = 1; k <= places.size(); ++k) {
    const std::size_t end = k < places.size() ? places[k][side][0].get<std::size_t>() : text.size();
    list.push_back(units[end] - units[begin]);
    begin = end;
  }
  if (list.empty()) list.push_back(units.back());
  return list;
}

}  // namespace

std::size_t utf16_units(std::string_view text) {
  std::size_t units = 0;
  for (const char c : text) units += is_inside_character(c) ? 0 : static_cast<unsigned char>(c) >= 0xf0 ? 2 : 1;
  return units;
}

Json sentence_lengths(const Json& places, std::string_view source, std::string_view translation) {
  return {{"srcSentLen", lengths(places, "source", source)}, {"transSentLen", lengths(places, "target", translation)}};
}

Json word_alignment(const Json& places, std::string_view source, std::string_view translation) {
  const std::vector<std::size_t> from = units_before(source), to = units_before(translation);
  std::set<std::array<std::size_t, 4>> pairs;
  for (const Json& sentence : places)
    for (const Json& link : sentence["links"]) {
      const auto [s, s_end] = whole_words(source, link[0], link[1]);
      const auto [t, t_end] = whole_words(translation, link[2], link[3]);
      if (s == s_end || t == t_end) continue;  // a token without text
      pairs.insert({from[s], from[s_end] - 1, to[t], to[t_end] - 1});
    }
  std::vector<std::string> texts;
  for (const auto& [s, s_last, t, t_last] : pairs) texts.push_back(fmt::format("{}:{}-{}:{}", s, s_last, t, t_last));
  return {{"proj", fmt::format("{}", fmt::join(texts, " "))}};
}

}  // namespace tril::serve
