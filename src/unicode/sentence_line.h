// A line of text, with navigation by words: those before and after a full stop.
#pragma once

#include <cstddef>
#include <string_view>

namespace tril {

/// Ends a paragraph, and so a sentence.
inline constexpr char32_t paragraph_separator = 0x2029;

bool is_letter(char32_t c);
bool is_digit(char32_t c);
bool is_capital(char32_t c);
bool is_small(char32_t c);

class SentenceLine {
 public:
  explicit SentenceLine(std::string_view text) : text_(text) {}
  std::size_t size() const { return text_.size(); }
  std::string_view part(std::size_t begin, std::size_t end) const { return text_.substr(begin, end - begin); }
  /// The position of a part of the line.
  std::size_t position(std::string_view part) const { return static_cast<std::size_t>(part.data() - text_.data()); }
  /// The character at `i` < size(), and the one before `i`: a blank at the start of the line.
  char32_t at(std::size_t i) const;
  char32_t before(std::size_t i) const;
  /// The position behind the character at `i`.
  std::size_t behind(std::size_t i) const;

  std::size_t past_spaces(std::size_t i) const;
  /// The first letter or digit at or after `i`, at most up to the next mark that may end a sentence.
  std::size_t past_signs(std::size_t i) const;
  /// Whether the white space at `i` ends a paragraph (U+2029).
  bool paragraph_ends(std::size_t i) const;

  /// The start of the word that ends at `end`, without quotes and brackets before it. Chinese and Japanese letters are
  /// no part of it.
  std::size_t word_begin(std::size_t end) const;
  /// The word before `begin`, without its full stop.
  std::string_view word_before(std::size_t begin) const;
  /// The letters and marks from the first letter or digit after `i` on, past quotes, brackets and dashes.
  std::string_view word_behind(std::size_t i) const;

 private:
  std::string_view text_;
};

}  // namespace tril
