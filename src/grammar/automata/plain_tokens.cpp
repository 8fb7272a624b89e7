#include "grammar/automata/plain_tokens.h"

#include <algorithm>

#include "grammar/automata/id_bits.h"

namespace tril::search {
namespace {

// The number of characters if all are of the set and they are short enough; otherwise 0.
std::int64_t chars_of(const std::string& bytes, const CharBytes& character) {
  if (std::ssize(bytes) > PlainTokens::longest) return 0;
  std::int64_t chars = 0;
  std::int32_t state = CharBytes::start;
  for (const char byte : bytes) {
    state = character.next(state, static_cast<unsigned char>(byte));
    if (state == CharBytes::none) return 0;
    if (state == CharBytes::whole) state = CharBytes::start, ++chars;
  }
  return state == CharBytes::start ? chars : 0;
}

}  // namespace

PlainTokens::PlainTokens(std::span<const std::string> bytes, const CharSet& chars)
    : others_(intersection(chars, {{0x80, last_char}})), chars_(bytes.size()), up_to_(1) {
  for (const CharRange& r : chars)
    for (char32_t c = r.least; c <= r.most && c <= beyond_ascii; ++c) all_.set(c);
  all_.set(beyond_ascii, !chars.empty() && chars.back().most >= 0x80);
  const CharBytes character(chars);
  const std::size_t words = words_for(std::ssize(bytes));
  up_to_[0].resize(words);
  std::vector<std::vector<std::int32_t>> first(all_.size()), later(all_.size());
  for (std::int32_t id = 0; id < std::ssize(bytes); ++id) {
    const std::string& token = element(bytes, id);
    const std::int64_t n = chars_of(token, character);
    if (n == 0) continue;
    element(chars_, id) = static_cast<std::uint8_t>(n);
    while (most_chars() < n) up_to_.emplace_back(words);
    set_bit(element(up_to_, n), id);
    bool is_first = true;
    for (const char byte : token) {
      const auto value = static_cast<unsigned char>(byte);
      if ((value & 0xc0) == 0x80) continue;  // the rest of a character
      std::vector<std::int32_t>& ids = (is_first ? first : later)[std::min<std::size_t>(value, beyond_ascii)];
      if (ids.empty() || ids.back() != id) ids.push_back(id);
      is_first = false;
    }
  }
  for (auto& ids : first) first_.emplace_back(std::move(ids), words);
  for (auto& ids : later) later_.emplace_back(std::move(ids), words);
  for (std::int64_t n = 1; n <= most_chars(); ++n)
    for (std::size_t word = 0; word < words; ++word) element(up_to_, n)[word] |= element(up_to_, n - 1)[word];
}

std::vector<std::uint64_t> PlainTokens::of(const Chars& first, const Chars& later) const {
  std::vector<std::uint64_t> bits = up_to_.back();
  for (std::size_t c = 0; c < all_.size(); ++c) {
    if (!first[c]) first_[c].take_from(bits);
    if (!later[c]) later_[c].take_from(bits);
  }
  return bits;
}

}  // namespace tril::search
