#include "tokenizer/files/text_tokens.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <unordered_map>

#include "base/error.h"

namespace tril {
namespace {

bool is_blank_byte(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// Whether the text continues with `part` at `at`, ignoring the case of ASCII letters.
bool continues_with(std::string_view text, std::size_t at, std::string_view part) {
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

// Converts places in bytes to places in characters.
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

TokenPlace place_at(std::size_t begin, std::size_t size) {
  return {static_cast<std::int64_t>(begin), static_cast<std::int64_t>(begin + size)};
}

// A token's text without the blanks that it begins with.
std::string_view word_of(std::string_view part) {
  return part.substr(after_blanks(part, 0));
}

// The end of the tokens that have a place so far, and the first byte after it that is not blank.
class Reached {
 public:
  explicit Reached(std::string_view text) : text_(text) { move_to(0); }
  std::size_t end() const { return end_; }
  void move_to(std::size_t end) {
    end_ = end;
    if (word_ < end || end == 0) word_ = after_blanks(text_, end);
  }
  // The place of the next token: here, after blanks that the tokenizer left out, or without the blank that it added
  // before the text; {} if the text does not continue with it.
  TokenPlace next(std::string_view part) const {
    if (continues_with(text_, end_, part)) return place_at(end_, part.size());
    const std::string_view word = word_of(part);
    if (!word.empty() && continues_with(text_, word_, word)) return place_at(word_, word.size());
    return {};
  }

 private:
  std::string_view text_;
  std::size_t end_ = 0, word_ = 0;
};

// Where words occur in a text. A word is searched for only if it occurs further on, and a search ends where the next one
// begins, so that all searches together read the text once. To know where each word occurs last, the text is read once
// for each length of the words.
class WordSearch {
 public:
  WordSearch(std::string_view text, const std::vector<std::string>& parts) : text_(text) {
    std::set<std::size_t> sizes;
    for (const std::string& part : parts)
      if (const std::string_view word = word_of(part); !word.empty() && word.size() <= text.size()) {
        last_.emplace(word, text.npos);
        sizes.insert(word.size());
      }
    for (const std::size_t size : sizes)
      for (std::size_t at = 0; at + size <= text.size(); ++at)
        if (const auto known = last_.find(text.substr(at, size)); known != last_.end()) known->second = at;
  }
  // The first place of the word from `at` on; npos if there is none.
  std::size_t find(std::string_view word, std::size_t at) const {
    const auto known = last_.find(word);
    if (known == last_.end() || known->second == text_.npos || known->second < at) return text_.npos;
    return text_.find(word, at);
  }

 private:
  std::string_view text_;
  std::unordered_map<std::string_view, std::size_t> last_;
};

}  // namespace

bool TextTokenizer::is_special(std::int32_t id) const {
  return texts_.of(id).empty();
}

// A token that is found where the previous one ended has its place there. Tokens that are not found share the text
// between those that are.
std::vector<TokenPlace> TextTokenizer::places(std::string_view text, std::span<const std::int32_t> ids) const {
  std::vector<std::string> parts;
  for (const std::int32_t id : ids) {
    const std::string& own = texts_.of(id);
    parts.push_back(own.empty() ? tokenizer_->piece(id, side_) : own);
  }
  std::vector<TokenPlace> places(ids.size());
  std::vector<std::size_t> lost;
  Reached reached(text);
  std::optional<WordSearch> search;
  const auto settle = [&](std::size_t end) {
    for (const std::size_t i : lost) places[i] = place_at(reached.end(), end - reached.end());
    lost.clear();
  };
  for (std::size_t i = 0; i < ids.size(); ++i) {
    TokenPlace found = reached.next(parts[i]);
    if (found.begin < 0 && !lost.empty()) {  // the text may continue further on
      if (!search) search.emplace(text, parts);
      const std::string_view word = word_of(parts[i]);
      const std::size_t begin = word.empty() ? text.npos : search->find(word, reached.end());
      if (begin != text.npos) found = place_at(begin, word.size());
    }
    if (found.begin < 0) {
      lost.push_back(i);
      continue;
    }
    settle(static_cast<std::size_t>(found.begin));
    places[i] = found;
    reached.move_to(static_cast<std::size_t>(found.end));
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
