#include "tokenizer/files/text_tokens.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace tril {
namespace {

bool is_blank_byte(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// Whether the text goes on with `part` at `at`, whatever the case of ASCII letters.
bool goes_on(std::string_view text, std::size_t at, std::string_view part) {
  return part.size() <= text.size() - at &&
         std::equal(part.begin(), part.end(), text.begin() + static_cast<std::ptrdiff_t>(at),
                    [](char a, char b) { return lower(a) == lower(b); });
}

std::size_t after_blanks(std::string_view text, std::size_t at) {
  while (at < text.size() && is_blank_byte(text[at])) ++at;
  return at;
}

bool begins_character(char c) {
  return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
}

// Of byte places, those in characters.
std::vector<TokenPlace> in_characters(std::string_view text, std::span<const TokenPlace> bytes) {
  std::vector<std::int64_t> before(text.size() + 1, 0);  // characters that begin before a byte
  for (std::size_t i = 0; i < text.size(); ++i) before[i + 1] = before[i] + (begins_character(text[i]) ? 1 : 0);
  std::vector<TokenPlace> places;
  for (const TokenPlace& p : bytes) {
    if (p.begin < 0) {
      places.push_back({});
      continue;
    }
    const auto begin = static_cast<std::size_t>(p.begin), end = static_cast<std::size_t>(p.end);
    const bool inside = begin < end && !begins_character(text[begin]);
    places.push_back({before[begin] - (inside ? 1 : 0), before[end]});
  }
  return places;
}

// Where `part` is in the text from `at` on: there, after blanks that the tokenizer left out, or without the blank that it
// put before the text.
TokenPlace next_place(std::string_view text, std::size_t at, std::string_view part) {
  const auto place = [](std::size_t begin, std::size_t size) {
    return TokenPlace{static_cast<std::int64_t>(begin), static_cast<std::int64_t>(begin + size)};
  };
  if (goes_on(text, at, part)) return place(at, part.size());
  const std::string_view word = part.substr(after_blanks(part, 0));
  const std::size_t begin = after_blanks(text, at);
  if (!word.empty() && goes_on(text, begin, word)) return place(begin, word.size());
  return {};
}

}  // namespace

bool TextTokenizer::is_special(std::int32_t id) const {
  return texts_.of(id).empty();
}

// A token that is found where the one before it ended has its place there. Those that are not found have all that lies
// between those that are.
std::vector<TokenPlace> TextTokenizer::places(std::string_view text, std::span<const std::int32_t> ids) const {
  std::vector<TokenPlace> places(ids.size());
  std::vector<std::size_t> lost;
  std::size_t at = 0;
  const auto settle = [&](std::size_t end) {
    for (const std::size_t i : lost) places[i] = {static_cast<std::int64_t>(at), static_cast<std::int64_t>(end)};
    lost.clear();
  };
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const std::string own = texts_.of(ids[i]);
    const std::string& part = own.empty() ? tokenizer_->piece(ids[i], side_) : own;
    TokenPlace found = next_place(text, at, part);
    if (found.begin < 0 && !lost.empty()) {  // behind those that are lost
      const std::string_view word = std::string_view(part).substr(after_blanks(part, 0));
      const std::size_t behind = word.empty() ? text.npos : text.find(word, at);
      if (behind != text.npos) found = next_place(text, behind, word);
    }
    if (found.begin < 0) {
      lost.push_back(i);
      continue;
    }
    settle(static_cast<std::size_t>(found.begin));
    places[i] = found;
    at = static_cast<std::size_t>(found.end);
  }
  settle(text.size());
  return places;
}

TextTokens TextTokenizer::tokens_of(std::string_view text, bool special, std::string_view language) const {
  TextTokens tokens;
  tokens.ids = tokenizer_->encode(text, side_);
  tokens.bytes = places(text, tokens.ids);
  if (special) {
    const TextFrame frame = tokenizer_->frame(side_, language);
    tokens.ids.insert(tokens.ids.begin(), frame.prefix.begin(), frame.prefix.end());
    tokens.ids.insert(tokens.ids.end(), frame.suffix.begin(), frame.suffix.end());
    tokens.bytes.insert(tokens.bytes.begin(), frame.prefix.size(), TokenPlace{});
    tokens.bytes.insert(tokens.bytes.end(), frame.suffix.size(), TokenPlace{});
  }
  for (const std::int32_t id : tokens.ids) tokens.pieces.push_back(tokenizer_->piece(id, side_));
  tokens.characters = in_characters(text, tokens.bytes);
  return tokens;
}

std::string TextTokenizer::text_of(std::span<const std::int32_t> ids, bool special) const {
  for (const std::int32_t id : ids)
    check(id >= 0 && id < tokenizer_->size(side_), "ids", "{} is not in the vocabulary, expected integers below {}", id,
          tokenizer_->size(side_));
  if (!special) return tokenizer_->decode(ids, side_);
  std::string text;
  for (std::size_t i = 0; i < ids.size();) {
    std::size_t end = i;
    while (end < ids.size() && !is_special(ids[end])) ++end;
    if (end > i) text += tokenizer_->decode(ids.subspan(i, end - i), side_);
    if (end < ids.size()) text += tokenizer_->piece(ids[end++], side_);
    i = end;
  }
  return text;
}

nlohmann::ordered_json json_of(const TextTokens& tokens) {
  const auto list = [](std::span<const TokenPlace> places) {
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const TokenPlace& p : places)
      all.push_back(p.begin < 0 ? nlohmann::ordered_json() : nlohmann::ordered_json{p.begin, p.end});
    return all;
  };
  return {{"ids", tokens.ids},
          {"pieces", tokens.pieces},
          {"bytes", list(tokens.bytes)},
          {"characters", list(tokens.characters)}};
}

}  // namespace tril
