#include "grammar/automata/char_bytes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/rng.h"
#include "unicode/characters.h"

namespace tril::search {
namespace {

bool in(const CharSet& chars, char32_t c) {
  return std::any_of(chars.begin(), chars.end(), [&](const CharRange& r) { return r.least <= c && c <= r.most; });
}

// Whether the automaton takes these bytes as one character.
bool takes(const CharBytes& automaton, const std::string& bytes) {
  std::int32_t state = CharBytes::start;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    state = automaton.next(state, static_cast<unsigned char>(bytes[i]));
    if (state == CharBytes::none) return false;
    if (state == CharBytes::whole) return i + 1 == bytes.size();
  }
  return false;
}

TEST(CharBytes, TakesTheCharactersOfItsSetAndNoOthers) {
  RandomSequence random(3, 1);
  for (int round = 0; round < 40; ++round) {
    CharSet ranges;
    for (std::uint64_t n = random.below(8); n > 0; --n) {
      const char32_t most[] = {0x7f, 0x7ff, 0xffff, last_char};
      const auto least = static_cast<char32_t>(random.below(most[random.below(4)] + 1));
      ranges.push_back({least, std::min<char32_t>(last_char, least + static_cast<char32_t>(random.below(5000)))});
    }
    const CharSet chars = intersection(normalized(ranges), all_chars());
    const CharBytes automaton(chars);
    const auto expect_right = [&](char32_t c) {
      if (!in(all_chars(), c)) return;
      std::string bytes;
      append_utf8(bytes, c);
      EXPECT_EQ(takes(automaton, bytes), in(chars, c)) << static_cast<std::uint32_t>(c);
    };
    for (const CharRange& r : chars)
      for (const std::uint32_t c : std::initializer_list<std::uint32_t>{
               r.least, r.most, r.least - (r.least > 0 ? 1 : 0), r.most + (r.most < last_char ? 1 : 0)})
        expect_right(c);
    for (int i = 0; i < 2000; ++i) expect_right(static_cast<char32_t>(random.below(last_char + 1)));
  }
}

TEST(CharBytes, TakesNoBytesThatAreNotUtf8) {
  const CharBytes all(all_chars());
  EXPECT_TRUE(takes(all, "\xf4\x8f\xbf\xbf"));
  for (const char* bytes : {"\x80", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf",
                            "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "\xc3", "\xc3\xc3", "ab"})
    EXPECT_FALSE(takes(all, bytes)) << bytes;
  EXPECT_EQ(CharBytes({}).states(), 1);
}

}  // namespace
}  // namespace tril::search
