#include "grammar/automata/char_bytes.h"

#include <algorithm>

namespace tril::search {
namespace {

CharSet between(const CharSet& chars, char32_t least, char32_t most) {
  return intersection(chars, {{least, most}});
}

}  // namespace

CharBytes::CharBytes(const CharSet& chars) {
  std::array<std::int32_t, 256> begin{};
  begin.fill(none);
  next_.push_back(begin);
  for (const CharRange& r : between(chars, 0, 0x7f))
    for (char32_t c = r.least; c <= r.most; ++c) begin[c] = whole;
  for (char32_t lead = 0xc2; lead <= 0xf4; ++lead) {
    const int bytes = lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
    const char32_t first = (lead & (0x3fu >> bytes)) << (6 * bytes);
    // Shorter forms of a character are no UTF-8.
    const char32_t least = std::max<char32_t>(first, bytes == 1 ? 0x80 : bytes == 2 ? 0x800 : 0x10000);
    begin[lead] = rest(between(chars, least, first + (char32_t{1} << (6 * bytes)) - 1), first, bytes);
  }
  next_[start] = begin;
}

// The state before the last `bytes` bytes of the characters from `first` on.
std::int32_t CharBytes::rest(const CharSet& chars, char32_t first, int bytes) {
  if (chars.empty()) return none;
  if (bytes == 0) return whole;
  const char32_t all = char32_t{1} << (6 * bytes), part = all >> 6;
  const bool full = chars == CharSet{{first, first + all - 1}};
  if (full && element(all_, bytes) != none) return element(all_, bytes);
  const auto state = static_cast<std::int32_t>(next_.size());
  next_.emplace_back().fill(none);
  if (full) element(all_, bytes) = state;
  for (char32_t six = 0; six < 64; ++six) {
    const char32_t from = first + six * part;
    const std::int32_t to = rest(between(chars, from, from + part - 1), from, bytes - 1);
    element(next_, state)[0x80 + six] = to;
  }
  return state;
}

}  // namespace tril::search
