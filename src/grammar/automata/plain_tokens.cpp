#include "grammar/automata/plain_tokens.h"

#include "grammar/automata/id_bits.h"

namespace tril::search {
namespace {

// The number of characters if all are of the set; otherwise 0.
std::int64_t chars_of(const std::string& bytes, const CharBytes& character) {
  std::int64_t chars = 0;
  std::int32_t state = CharBytes::start;
  for (const char byte : bytes) {
    state = character.next(state, static_cast<unsigned char>(byte));
    if (state == CharBytes::none) return 0;
    if (state == CharBytes::whole) state = CharBytes::start, ++chars;
  }
  return state == CharBytes::start && chars <= PlainTokens::longest ? chars : 0;
}

}  // namespace

PlainTokens::PlainTokens(std::span<const std::string> bytes, const CharSet& chars)
    : character_(chars), chars_(bytes.size()), ids_(1) {
  for (std::size_t id = 0; id < bytes.size(); ++id) {
    const std::int64_t n = chars_of(bytes[id], character_);
    chars_[id] = static_cast<std::uint8_t>(n);
    if (n == 0) continue;
    while (std::ssize(ids_) <= n) ids_.emplace_back();
    element(ids_, n).push_back(static_cast<std::int32_t>(id));
  }
  masks_.emplace_back(words_for(std::ssize(bytes)));
  counts_.push_back(0);
  for (std::int64_t n = 1; n < std::ssize(ids_); ++n) {
    masks_.push_back(masks_.back());
    for (const std::int32_t id : ids(n)) set_bit(masks_.back(), id);
    counts_.push_back(counts_.back() + std::ssize(ids(n)));
  }
}

}  // namespace tril::search
