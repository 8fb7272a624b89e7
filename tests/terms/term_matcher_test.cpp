// Terms in texts: tables in several languages, and a naive matcher beside the automata.
#include "terms/term_matcher.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <chrono>

#include "support/any_script.h"
#include "support/error_of.h"
#include "support/rounds.h"
#include "terms/stem.h"

namespace tril::terms::matcher_test {
namespace {

// "source>target;" for each term that is found.
std::string found(const TermMatcher& matcher, std::string_view text) {
  std::string list;
  for (const FoundTerm& one : matcher.find(text))
    list += std::string(text.substr(one.begin, one.end - one.begin)) + ">" + matcher.entries()[one.entry].target + ";";
  return list;
}

std::string found(std::vector<Entry> entries, Match match, const std::string& language, std::string_view text) {
  return found(TermMatcher(std::move(entries), {match, language}), text);
}

struct Case {
  Match match;
  const char *language, *source, *text, *found;
};

TEST(TermMatcher, TheTableOfLanguages) {
  const Case cases[] = {
      {Match::exact, "en", "dog", "a dog, dogs, Dog, dog2, hotdog (dog)", "dog>X;dog>X;"},
      {Match::ignore_case, "en", "dog", "Dog DOG dogs", "Dog>X;DOG>X;"},
      {Match::stem, "en", "dog", "Dogs, the dog's bone", "Dogs>X;dog>X;"},
      {Match::exact, "en", "can", "can't, can\u2019t, can, a can'ts", "can>X;can>X;"},
      {Match::exact, "en", "bar", "foo_bar bar_foo _bar_ well-bar", "bar>X;bar>X;"},
      {Match::exact, "en", "foo_bar", "a foo_bar, foo_bar_x", "foo_bar>X;"},
      {Match::exact, "tr", "\u0130stanbul", "\u0130stanbul'da", "\u0130stanbul>X;"},
      {Match::stem, "en", "city", "cities and a City", "cities>X;City>X;"},
      {Match::stem, "en", "hot dog", "Hot dogs", "Hot dogs>X;"},
      {Match::ignore_case, "en", "New York", "new\u00a0 york, New-York", "new\u00a0 york>X;"},
      {Match::ignore_case, "en", "IT", "it is IT", "IT>X;"},
      {Match::ignore_case, "en", "U.S.", "in the u.s. now", ""},
      {Match::stem, "de", "Maschine", "Maschinen, der Maschine, MASCHINE", "Maschinen>X;Maschine>X;MASCHINE>X;"},
      {Match::ignore_case, "de", "Straße", "die STRASSE, Strasse", "STRASSE>X;Strasse>X;"},
      {Match::exact, "fr", "eau", "l'eau, l’eau, beau", "eau>X;eau>X;"},
      {Match::stem, "fr", "cheval", "des chevaux", "chevaux>X;"},
      {Match::stem, "es", "perro", "perros y perras", "perros>X;perras>X;"},
      {Match::stem, "ru", "собака", "Собаки, собакой, собакам", "Собаки>X;собакой>X;собакам>X;"},
      {Match::stem, "uk", "мова", "мову, мовами", "мову>X;мовами>X;"},
      {Match::stem, "pl", "umowa", "umowy, umową, UMOWAMI", "umowy>X;umową>X;UMOWAMI>X;"},
      {Match::stem, "tr", "kitap", "kitaplar, kitapta", "kitaplar>X;kitapta>X;"},
      {Match::stem, "fi", "talo", "talossa, talot, talon", "talossa>X;talot>X;talon>X;"},
      {Match::stem, "ko", "서울", "서울에서 서울은", "서울에서>X;서울은>X;"},
      {Match::ignore_case, "el", "λόγος", "ΛΌΓΟΣ", "ΛΌΓΟΣ>X;"},
      {Match::exact, "ja", "東京", "在東京都、東京", "東京>X;東京>X;"},
      {Match::exact, "th", "ไทย", "ภาษาไทยดี", "ไทย>X;"},
      {Match::exact, "vi", "Ti\u1ebfng", "Tie\u0302\u0301ng", "Tie\u0302\u0301ng>X;"},
      {Match::exact, "de", "Donaudampf", "Donau\u00addampf", "Donau\u00addampf>X;"},
      {Match::ignore_case, "hi", "कुत्ता", "एक कुत्ता।", "कुत्ता>X;"},
      {Match::ignore_case, "ar", "كلب", "كلب، الكلب", "كلب>X;"},
      {Match::ignore_case, "en", "file", "\ufb01le, File", "\ufb01le>X;File>X;"},
  };
  for (const Case& c : cases)
    EXPECT_EQ(found({{c.source, "X"}}, c.match, c.language, c.text), c.found) << c.source << " in " << c.text;
}

TEST(TermMatcher, NothingIsFoundInAddressesPlaceholdersAndTags) {
  const TermMatcher matcher({{"dog", "Hund"}, {"the {name} dog", "X"}}, {});
  EXPECT_EQ(found(matcher, "see https://dog.org/dog?dog=dog. dog"), "dog>Hund;");
  EXPECT_EQ(found(matcher, "www.dog.com dog@dog.org dog@dog"), "dog>Hund;dog>Hund;");
  EXPECT_EQ(found(matcher, "{dog} ${dog} %{dog} %(dog)s {n, plural, one {dog} other {dog}} dog"), "dog>Hund;");
  EXPECT_EQ(found(matcher, "<dog/><b class='dog'>dog</b>"), "dog>Hund;");
  EXPECT_EQ(found(matcher, "{dog 5 < dog"), "dog>Hund;dog>Hund;");
  EXPECT_EQ(found(matcher, "the {name} dog"), "dog>Hund;") << "no term reaches over a placeholder";
}

TEST(TermMatcher, TheStrictestEntryIsRight) {
  const TermMatcher matcher({{"polish", "polieren"}, {"Polish", "polnisch"}, {"us", "uns"}, {"US", "USA"}},
                            {Match::ignore_case, "en"});
  EXPECT_EQ(found(matcher, "Polish polish POLISH"), "Polish>polnisch;polish>polieren;");
  EXPECT_EQ(found(matcher, "US us Us"), "US>USA;us>uns;Us>uns;");
  ASSERT_EQ(matcher.notes().size(), 1u);
  EXPECT_TRUE(contains(matcher.notes()[0], "polish", "Polish", "case"));
  const TermMatcher stems({{"Hund", "dog"}, {"Hunde", "dogs"}}, {Match::stem, "de"});
  EXPECT_EQ(found(stems, "hund hunde Hundes"), "hund>dog;hunde>dogs;");
  EXPECT_TRUE(contains(stems.notes().at(0), "endings"));
}

TEST(TermMatcher, AnEntryHasItsOwnMatch) {
  const TermMatcher matcher({{"Go", "Go", Match::exact}, {"NATO", "NATO", Match::ignore_case}, {"run", "laufen"}},
                            {Match::stem, "en"});
  EXPECT_EQ(found(matcher, "Go go, nato, runs"), "Go>Go;nato>NATO;runs>laufen;");
}

TEST(TermMatcher, WhatCannotBeMatchedIsRefused) {
  const auto made = [](std::vector<Entry> entries, const MatchOptions& options) {
    return error_of([&] { TermMatcher(entries, options); });
  };
  EXPECT_TRUE(contains(made({{"a", "b"}, {"a", "c"}}, {}), "\"a\"", "\"b\"", "\"c\""));
  EXPECT_TRUE(contains(made({{" ", "b"}}, {}), "empty"));
  EXPECT_TRUE(contains(made({{"a", ""}}, {}), "empty"));
  EXPECT_TRUE(contains(made({{"a", "b"}}, {Match::stem, ""}), "stem", "language"));
  EXPECT_TRUE(contains(made({{"a", "b"}}, {Match::stem, "ja"}), "ja", "`case`", "en, de"));
  EXPECT_EQ(made({{"a", "b"}, {" a ", "b"}}, {}), "");
}

// What a naive matcher compares: words of ASCII and single characters.
std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at + 1;
    const bool word = std::isalnum(static_cast<unsigned char>(text[at])) != 0, space = text[at] == ' ';
    while (end < text.size() &&
           ((word && std::isalnum(static_cast<unsigned char>(text[end])) != 0) || (space && text[end] == ' ')))
      ++end;
    words.push_back(space ? " " : text.substr(at, end - at));
    at = end;
  }
  return words;
}

std::string form(const std::string& word, Match match) {
  if (match == Match::exact) return word;
  std::string small = word;
  for (char& c : small) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const bool is_word = std::isalnum(static_cast<unsigned char>(word[0])) != 0;
  return match == Match::stem && is_word ? stem_of(small, endings_of("en")) : small;
}

// The targets in a text, by comparing each entry at each word.
std::string naive(const std::vector<Entry>& entries, Match match, const std::string& text) {
  const std::vector<std::string> words = words_of(text);
  std::string list;
  for (std::size_t i = 0; i < words.size();) {
    std::size_t longest = 0;
    const Entry* best = nullptr;
    for (int kind = 0; kind <= static_cast<int>(match); ++kind)
      for (const Entry& entry : entries) {
        const std::vector<std::string> phrase = words_of(entry.source);
        bool same = phrase.size() > longest && i + phrase.size() <= words.size();
        for (std::size_t k = 0; same && k < phrase.size(); ++k)
          same = form(words[i + k], static_cast<Match>(kind)) == form(phrase[k], static_cast<Match>(kind));
        if (same) longest = phrase.size(), best = &entry;
      }
    if (best) list += best->target + ";";
    i += std::max<std::size_t>(1, longest);
  }
  return list;
}

std::string random_phrase(RandomSequence& random, std::uint64_t most) {
  static constexpr std::array words{"dog", "dogs", "Dog", "cat", "cats", "red", "Red", "walks", "walked", "a"};
  static constexpr std::array marks{" ", " ", " ", "  ", "-", ". "};
  std::string text = words[random.below(words.size())];
  for (std::uint64_t n = random.below(most); n > 0; --n)
    text += std::string(marks[random.below(marks.size())]) + words[random.below(words.size())];
  return text;
}

TEST(TermMatcher, FindsWhatANaiveMatcherFinds) {
  test::rounds(300, [](RandomSequence& random) {
    const auto match = static_cast<Match>(random.below(3));
    std::vector<Entry> entries;
    // Phrases that are equal under the match have one target, so that none is ambiguous.
    for (std::uint64_t n = 1 + random.below(12); n > 0; --n) {
      const std::string source = random_phrase(random, 4);
      std::string target;
      for (const std::string& word : words_of(source)) target += form(word, match) + "_";
      entries.push_back({source, target, match});
    }
    const TermMatcher matcher(entries, {match, "en"});
    const std::string text = random_phrase(random, 30);
    std::string list;
    for (const FoundTerm& one : matcher.find(text)) list += matcher.entries()[one.entry].target + ";";
    EXPECT_EQ(list, naive(entries, match, text)) << text;
  });
}

TEST(TermMatcher, FoundRangesAreWithinTheTextAndApart) {
  test::rounds(300, [](RandomSequence& random) {
    std::vector<Entry> entries;
    for (int i = 0; i < 8; ++i) {
      const std::string source = valid_utf8(test::text_of_any_script(random)).substr(0, 40);
      try {
        const TermMatcher alone({{source, "X"}}, {Match::ignore_case, ""});
        entries.push_back({source, "X"});
      } catch (const Error&) {  // an empty phrase
      }
    }
    const TermMatcher matcher(entries, {Match::ignore_case, ""});
    std::string text = test::text_of_any_script(random);
    if (!entries.empty()) text += " " + entries[random.below(entries.size())].source + " " + text;
    std::size_t at = 0;
    for (const FoundTerm& one : matcher.find(text)) {
      EXPECT_LE(at, one.begin);
      EXPECT_LT(one.begin, one.end);
      at = one.end;
    }
    EXPECT_LE(at, text.size());
  });
}

TEST(TermMatcher, TimeIsLinearInHostileTexts) {
  std::string phrase = "a";
  while (phrase.size() + 4 < longest_phrase) phrase += " a";
  const TermMatcher matcher({{"a", "x"}, {phrase + " b", "y"}, {phrase, "z"}}, {});
  std::string text;
  while (text.size() < 400'000) text += "a ";
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_FALSE(matcher.find(text).empty());
  for (const char* const part : {"{", "%(", "<", "a@", "://", "www.", "}", "a\u0301"}) {
    std::string hostile;
    while (hostile.size() < 200'000) hostile += part;
    matcher.find(hostile);
  }
  // A quadratic search takes minutes; a slow machine with sanitizers a few seconds.
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(60));
}

}  // namespace
}  // namespace tril::terms::matcher_test
