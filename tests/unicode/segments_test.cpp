// Segments of texts: joined they are the text, each fits the model, and translations are joined as their language is
// written.
#include "unicode/segments.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/rng.h"
#include "support/any_script.h"
#include "support/rounds.h"
#include "unicode/characters.h"
#include "unicode/trim.h"

namespace tril {
namespace {

std::int64_t count_characters(std::string_view text) {
  std::int64_t n = 0;
  for (std::size_t i = 0; i < text.size(); i += character_at(text, i).length) ++n;
  return n;
}

// Translated segments in [], with _ where a blank belongs; the others unchanged.
std::string shown(const std::vector<Segment>& segments) {
  std::string s;
  for (const Segment& one : segments)
    s += one.translated ? "[" + std::string(one.text) + "]" + (one.blank_after ? "_" : "") : std::string(one.text);
  return s;
}
std::string sentences(std::string_view text) {
  return shown(segments_of(text, {}));
}
std::string fitted(std::string_view text, std::int64_t most) {
  return shown(segments_of(text, {.tokens = count_characters, .max_tokens = most}));
}

// The translation of each segment is the segment itself.
std::string joined(std::string_view text, std::string_view language, const SegmentOptions& options = {}) {
  const std::vector<Segment> segments = segments_of(text, options);
  std::vector<std::string> same;
  for (const Segment& s : segments)
    if (s.translated) same.emplace_back(s.text);
  return join_translations(segments, same, language);
}

TEST(Segments, SentencesAndWhatLiesBetween) {
  EXPECT_EQ(sentences("A dog runs."), "[A dog runs.]");
  EXPECT_EQ(sentences(" A dog runs. Two men play!  Why? "), " [A dog runs.] [Two men play!]  [Why?] ");
  EXPECT_EQ(sentences("one\n\n two \r\nthree"), "[one]\n\n [two] \r\n[three]");
  EXPECT_EQ(sentences("犬が走る。猫も。"), "[犬が走る。]_[猫も。]");
  EXPECT_EQ(sentences("A.\u00a0 B? \u3000C"), "[A.\u00a0 B?] \u3000[C]");
  EXPECT_EQ(sentences(""), "");
  EXPECT_EQ(sentences(" \n "), " \n ");
  EXPECT_EQ(shown(segments_of("A. B\nC", {.split = Split::lines})), "[A. B]\n[C]");
  EXPECT_EQ(shown(segments_of(" A. B\nC ", {.split = Split::none})), "[ A. B\nC ]");
  EXPECT_EQ(shown(segments_of(" \n ", {.split = Split::none})), " \n ");
  EXPECT_EQ(shown(segments_of("A dog\nruns.\nIt is fast. ", {.one_paragraph = true})),
            "[A dog\nruns.]\n[It is fast.] ");
}

TEST(Segments, LongSentencesAreCutWhereItHurtsLeast) {
  EXPECT_EQ(fitted("A dog runs.", 11), "[A dog runs.]");
  EXPECT_EQ(fitted("The dog, who is old, runs; the young cat sleeps.", 30),
            "[The dog, who is old, runs;] [the young cat sleeps.]");
  EXPECT_EQ(fitted("The dog who is old runs, the young cat sleeps.", 30),
            "[The dog who is old runs,] [the young cat sleeps.]");
  EXPECT_EQ(fitted("The old dog runs \u2013 the young cat sleeps.", 25),
            "[The old dog runs] [\u2013 the young cat sleeps.]");
  EXPECT_EQ(fitted("The old dog runs\u2014the young cat sleeps.", 25),
            "[The old dog runs\u2014][the young cat sleeps.]");
  EXPECT_EQ(fitted("He said \u201cgo, (now;)\u201d and then he left.", 25),
            "[He said \u201cgo, (now;)\u201d] [and then he left.]");
  EXPECT_EQ(fitted("one two three four five six seven", 17), "[one two three] [four five] [six seven]");
  EXPECT_EQ(fitted("狗跑得很快，猫睡着了。", 7), "[狗跑得很快，]_[猫睡着了。]");
  EXPECT_EQ(fitted("abcdefghij", 5), "[abcde][fghij]") << "graphemes, without a blank inside the word";
  EXPECT_EQ(fitted("ae\u0301ae\u0301ae\u0301", 4), "[ae\u0301][ae\u0301][ae\u0301]");
  EXPECT_EQ(fitted("a\u0301\u0302\u0303\u0304", 3), "[a\u0301\u0302][\u0303\u0304]") << "a grapheme that does not fit";
  EXPECT_EQ(fitted("Time is 10:30, or 3,000 minutes", 20), "[Time is 10:30,] [or 3,000 minutes]");
  EXPECT_EQ(shown(segments_of("ab", {.tokens = [](auto) { return std::int64_t{9}; }, .max_tokens = 5})), "[a][b]");
  EXPECT_EQ(shown(segments_of("one two", {.split = Split::lines, .tokens = count_characters, .max_tokens = 4})),
            "[one] [two]");
  EXPECT_EQ(shown(segments_of("one two", {.split = Split::none, .tokens = count_characters, .max_tokens = 4})),
            "[one two]");
}

// Thai has no spaces between words, and its words are found by a dictionary.
TEST(Segments, ThaiIsCutBetweenWords) {
  EXPECT_EQ(fitted("ภาษาไทย", 5), "[ภาษา]_[ไทย]");
}

TEST(Segments, PartsHaveAboutTheSameLength) {
  std::string text;
  for (int i = 0; i < 21; ++i) text += (i > 0 ? " " : "") + std::string("word");
  EXPECT_EQ(fitted(text, 100), "[" + text.substr(0, 54) + "] [" + text.substr(55) + "]");
}

TEST(Segments, TranslationsAreJoinedAsTheirLanguageIsWritten) {
  EXPECT_EQ(joined("A dog. A cat.", "de"), "A dog. A cat.");
  EXPECT_EQ(joined("A dog. A cat.\nA man. ", "zh"), "A dog.A cat.\nA man. ");
  EXPECT_EQ(joined(" A dog.  A cat.", "ja_XX"), " A dog.A cat.") << "blanks before the first stay";
  EXPECT_EQ(joined("A dog.\tA cat.", "zho_Hans"), "A dog.\tA cat.") << "tabs stay";
  EXPECT_EQ(joined("犬が走る。猫も。", "en"), "犬が走る。 猫も。");
  EXPECT_EQ(joined("犬が走る。猫も。", "eng_Latn"), "犬が走る。 猫も。");
  EXPECT_EQ(joined("犬が走る。猫も。", "jpn_Jpan"), "犬が走る。猫も。");
  EXPECT_EQ(joined("abcdefghij", "en", {.tokens = count_characters, .max_tokens = 5}), "abcdefghij");
  // The translations tell it if no language is given.
  EXPECT_EQ(join_translations(segments_of("A dog. A cat.", {}), {"狗。", "猫。"}, ""), "狗。猫。");
  EXPECT_EQ(join_translations(segments_of("A dog. A cat.", {}), {"หมา", "แมว"}, ""), "หมา แมว");
  EXPECT_EQ(join_translations(segments_of("犬。猫。", {}), {"A dog.", "A cat."}, ""), "A dog. A cat.");
  EXPECT_EQ(join_translations(segments_of(" \n", {}), {}, ""), " \n");
  EXPECT_THROW(join_translations(segments_of("A dog.", {}), {}, ""), Error);
}

std::string all_of(const std::vector<Segment>& segments) {
  std::string s;
  for (const Segment& one : segments) s += one.text;
  return s;
}

TEST(Segments, JoinedTheyAreTheText) {
  test::rounds(3000, [](RandomSequence& random) {
    const std::string text = test::text_of_any_script(random);
    const auto most = static_cast<std::int64_t>(1 + random.below(40));
    for (const Split split : {Split::none, Split::lines, Split::sentences})
      for (const bool fit : {false, true}) {
        const auto segments = segments_of(text, {.split = split,
                                                 .language = test::some_language(random),
                                                 .one_paragraph = random.below(2) == 0,
                                                 .tokens = count_characters,
                                                 .max_tokens = fit ? most : 0});
        ASSERT_EQ(all_of(segments), text);
        for (const Segment& s : segments) {
          ASSERT_FALSE(s.text.empty());
          ASSERT_TRUE(is_utf8(s.text) || !is_utf8(text)) << text;
          if (split == Split::none) continue;
          ASSERT_TRUE(trim(s.text).size() == s.text.size() || !s.translated) << text;
          ASSERT_TRUE(!fit || !s.translated || count_characters(s.text) <= most) << text;
          ASSERT_TRUE(s.translated || trim(s.text).empty()) << text;
        }
      }
  });
}

// A text of 100 KB is cut while the callback sees each byte a few times.
TEST(Segments, TimeGrowsAsTheTextDoes) {
  for (const std::string part : {"word ", "a, ", "ab", "字", "字，", "a\u0301", "\u0301", "ไทย", "; ", ". ", "A. ",
                                 "\xff", " ", "a \u2013 ", "\u2014", "\n", "。"}) {
    std::string text;
    while (text.size() < 100'000) text += part;
    std::int64_t read = 0;
    const auto tokens = [&](std::string_view t) {
      read += std::ssize(t);
      return count_characters(t);
    };
    for (const bool one_paragraph : {false, true}) {
      const auto segments = segments_of(text, {.one_paragraph = one_paragraph, .tokens = tokens, .max_tokens = 100});
      ASSERT_EQ(all_of(segments), text);
    }
    EXPECT_LT(read, 60 * std::ssize(text)) << part;
  }
}

}  // namespace
}  // namespace tril
