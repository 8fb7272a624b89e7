// The demo's generator: number words checked by hand, canonical forms that match the lines, no duplicate lines.
#include "demo/demo_corpus.h"

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <regex>
#include <set>

#include "base/error.h"
#include "demo/number_words.h"
#include "unicode/trim.h"

namespace tril::test {
namespace {

using namespace tril::train;
using enum Language;

TEST(NumberWords, AreThoseThatPeopleWrite) {
  const std::vector<std::tuple<Language, int, std::string>> known{
      {english, 0, "zero"},
      {english, 13, "thirteen"},
      {english, 40, "forty"},
      {english, 21, "twenty-one"},
      {english, 105, "one hundred five"},
      {english, 1234, "one thousand two hundred thirty-four"},
      {english, 9999, "nine thousand nine hundred ninety-nine"},
      {german, 1, "eins"},
      {german, 21, "einundzwanzig"},
      {german, 30, "dreißig"},
      {german, 67, "siebenundsechzig"},
      {german, 101, "einhunderteins"},
      {german, 1234, "eintausendzweihundertvierunddreißig"},
      {german, 7017, "siebentausendsiebzehn"},
      {french, 16, "seize"},
      {french, 21, "vingt et un"},
      {french, 22, "vingt-deux"},
      {french, 60, "soixante"},
      {french, 70, "soixante-dix"},
      {french, 71, "soixante et onze"},
      {french, 80, "quatre-vingts"},
      {french, 81, "quatre-vingt-un"},
      {french, 91, "quatre-vingt-onze"},
      {french, 99, "quatre-vingt-dix-neuf"},
      {french, 100, "cent"},
      {french, 200, "deux cents"},
      {french, 201, "deux cent un"},
      {french, 1000, "mille"},
      {french, 2080, "deux mille quatre-vingts"},
  };
  for (const auto& [language, n, words] : known) EXPECT_EQ(cardinal(language, n), words);
  EXPECT_EQ(cardinal(english, 1005, Spelling::custom), "one thousand and five");
  EXPECT_EQ(cardinal(english, 2345, Spelling::custom), "two thousand three hundred and forty-five");
  EXPECT_EQ(cardinal(german, 1100, Spelling::custom), "tausendeinhundert");
  EXPECT_EQ(cardinal(german, 105, Spelling::custom), "hundertfünf");
  EXPECT_THROW(cardinal(english, 10'000), Error);
  EXPECT_THROW(cardinal(english, -1), Error);
}

TEST(NumberWords, NoTwoNumbersShareTheirWords) {
  for (Language language : {english, german, french})
    for (Spelling spelling : {Spelling::plain, Spelling::custom}) {
      std::set<std::string> seen;
      for (int n = 0; n <= 9999; ++n) EXPECT_TRUE(seen.insert(cardinal(language, n, spelling)).second) << n;
    }
}

TEST(NumberWords, DaysOfAMonth) {
  EXPECT_EQ(day_in_words(english, 1), "first");
  EXPECT_EQ(day_in_words(english, 12), "twelfth");
  EXPECT_EQ(day_in_words(english, 20), "twentieth");
  EXPECT_EQ(day_in_words(english, 23), "twenty-third");
  EXPECT_EQ(day_in_words(english, 30), "thirtieth");
  EXPECT_EQ(day_in_words(german, 3), "dritte");
  EXPECT_EQ(day_in_words(german, 16), "sechzehnte");
  EXPECT_EQ(day_in_words(german, 31), "einunddreißigste");
  EXPECT_EQ(day_in_words(french, 1), "premier");
  EXPECT_EQ(day_in_words(french, 31), "trente et un");
  for (Language language : {english, german, french}) {
    std::set<std::string> seen;
    for (int day = 1; day <= 31; ++day) EXPECT_TRUE(seen.insert(day_in_words(language, day)).second) << day;
  }
  EXPECT_THROW(day_in_words(english, 0), Error);
  EXPECT_THROW(day_in_words(english, 32), Error);
}

std::vector<DemoPair> drawn(DemoKind kind, int n) {
  RandomSequence random(3, 0);
  std::vector<DemoPair> pairs;
  for (int i = 0; i < n; ++i) pairs.push_back(demo_pair(random, kind));
  return pairs;
}

TEST(DemoCorpus, TargetsAreNormalForms) {
  const std::regex date("([0-9]{4})-([0-9]{2})-([0-9]{2})"), time("([01][0-9]|2[0-3]):[0-5][0-9]"),
      number("-?(0|[1-9][0-9]{0,3})(\\.[0-9]?[1-9])?");
  for (const DemoPair& pair : drawn(DemoKind::dates, 5000)) {
    std::smatch m;
    ASSERT_TRUE(std::regex_match(pair.target, m, date)) << pair.source << " " << pair.target;
    using namespace std::chrono;
    const year_month_day day{year(std::stoi(m[1])), month(static_cast<unsigned>(std::stoi(m[2]))),
                             std::chrono::day(static_cast<unsigned>(std::stoi(m[3])))};
    EXPECT_TRUE(day.ok()) << pair.target;
    EXPECT_NE(pair.source.find(m[1]), std::string::npos) << "the year stands in " << pair.source;
  }
  for (const DemoPair& pair : drawn(DemoKind::times, 5000))
    EXPECT_TRUE(std::regex_match(pair.target, time)) << pair.source << " " << pair.target;
  for (const DemoPair& pair : drawn(DemoKind::numbers, 5000)) {
    EXPECT_TRUE(std::regex_match(pair.target, number)) << pair.source << " " << pair.target;
    EXPECT_NE(pair.target, "-0");
  }
}

// Lines checked by a person: if a form's arithmetic is wrong, one of them is missing or has another target.
TEST(DemoCorpus, SaysWhatTheLinesSay) {
  std::map<std::string, std::string> targets;
  for (const DemoKind kind : {DemoKind::dates, DemoKind::times, DemoKind::numbers})
    for (const DemoPair& pair : drawn(kind, 200'000)) {
      const auto [at, fresh] = targets.emplace(pair.source, pair.target);
      ASSERT_EQ(at->second, pair.target) << "two meanings of " << pair.source;
      ASSERT_TRUE(is_utf8(pair.source)) << pair.source;
    }
  const std::map<std::string, std::string> read{
      {"half past two in the afternoon", "14:30"},
      {"quarter to one in the afternoon", "12:45"},
      {"ten past eleven in the evening", "23:10"},
      {"halb drei nachmittags", "14:30"},
      {"halb eins morgens", "00:30"},
      {"Viertel vor sechs abends", "17:45"},
      {"ein Uhr nachmittags", "13:00"},
      {"fünf nach eins morgens", "01:05"},
      {"une heure et demie du matin", "01:30"},
      {"trois heures moins le quart de l'après-midi", "14:45"},
      {"onze heures et quart du soir", "23:15"},
      {"12:05 am", "00:05"},
      {"12:05 pm", "12:05"},
      {"7:30 p.m.", "19:30"},
      {"9 Uhr 7", "09:07"},
      {"zwanzig Uhr fünfzehn", "20:15"},
      {"vingt heures quinze", "20:15"},
      {"14h05", "14:05"},
      {"siebzehn", "17"},
      {"minus five", "-5"},
      {"moins neuf", "-9"},
      {"two point five", "2.5"},
      {"drei Komma null fünf", "3.05"},
      {"quatre virgule vingt-cinq", "4.25"},
      {"2,5", "2.5"},
  };
  for (const auto& [source, target] : read) {
    const auto at = targets.find(source);  // so common that each occurs in 200,000 draws
    ASSERT_NE(at, targets.end()) << source;
    EXPECT_EQ(at->second, target) << source;
  }
}

TEST(DemoCorpus, IsAFunctionOfItsOptions) {
  DemoCorpusOptions o{.train = 500, .valid = 50, .test = 70, .seed = 5};
  const DemoCorpus a = make_demo_corpus(o), b = make_demo_corpus(o);
  EXPECT_EQ(a.train, b.train);
  EXPECT_EQ(a.valid, b.valid);
  EXPECT_EQ(a.test, b.test);
  o.seed = 6;
  EXPECT_NE(make_demo_corpus(o).train, a.train);
}

TEST(DemoCorpus, NoLineIsInTwoParts) {
  for (const DemoKind kind : {DemoKind::dates, DemoKind::times, DemoKind::numbers}) {
    const DemoCorpus corpus = make_demo_corpus({.kinds = {kind}, .train = 3000, .valid = 200, .test = 300});
    EXPECT_EQ(corpus.train.size(), 3000u);
    EXPECT_EQ(corpus.valid.size(), 200u);
    EXPECT_EQ(corpus.test.size(), 300u);
    std::set<std::string> seen;
    for (const auto* part : {&corpus.train, &corpus.valid, &corpus.test})
      for (const DemoPair& pair : *part) EXPECT_TRUE(seen.insert(pair.source).second) << pair.source;
  }
}

TEST(DemoCorpus, RefusesWhatItCannotGive) {
  EXPECT_THROW(make_demo_corpus({.kinds = {DemoKind::times}, .train = 10'000'000}), Error);
  EXPECT_THROW(make_demo_corpus({.kinds = {}}), Error);
  EXPECT_THROW(make_demo_corpus({.train = 0}), Error);
}

}  // namespace
}  // namespace tril::test
