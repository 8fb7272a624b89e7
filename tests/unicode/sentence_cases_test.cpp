// The ends of sentences in about thirty languages, with the language given and without: sentence_cases.txt.
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "support/paths.h"
#include "unicode/segments.h"

namespace tril::sentence_cases {
namespace {

struct Case {
  std::string language, expected;
  bool needs_language = false;
};

std::vector<Case> read_cases() {
  std::ifstream file(test::test_dir() + "/unicode/sentence_cases.txt");
  std::vector<Case> cases;
  std::string language;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("# [")) language = line.substr(3, line.find(']') - 3);
    if (line.empty() || line[0] == '#') continue;
    const bool needs = line.starts_with("! ");
    cases.push_back({language, needs ? line.substr(2) : line, needs});
  }
  return cases;
}

constexpr std::string_view bar = "|", broken_bar = "\u00a6";

std::string without_bars(std::string text) {
  for (std::size_t at = text.find(bar); at != text.npos; at = text.find(bar, at)) text.replace(at, bar.size(), " ");
  for (std::size_t at = text.find(broken_bar); at != text.npos; at = text.find(broken_bar, at))
    text.erase(at, broken_bar.size());
  return text;
}

std::string with_bars(std::string_view text, std::string_view language) {
  std::string shown;
  const std::vector<Segment> segments = segments_of(text, {.language = language});
  for (const Segment& s : segments) {
    shown += s.translated ? s.text : bar;
    if (s.blank_after) shown += broken_bar;
  }
  return shown;
}

TEST(SentenceCases, EndAsTheyAreMarked) {
  std::map<std::string, int> counts;
  for (const Case& c : read_cases()) {
    const std::string text = without_bars(c.expected);
    EXPECT_EQ(with_bars(text, c.language), c.expected) << c.language;
    if (!c.needs_language) {
      EXPECT_EQ(with_bars(text, ""), c.expected) << c.language << ", not given";
    }
    ++counts[c.language];
  }
  int languages = 0;
  for (const auto& [language, count] : counts) languages += count >= 12 ? 1 : 0;
  EXPECT_GE(languages, 25);
}

TEST(SentenceCases, ALanguageIsGivenInAnyForm) {
  for (const char* code : {"de", "deu", "deu_Latn", "de_DE", "de-AT"})
    EXPECT_EQ(with_bars("Die Fa. Meier liefert.", code), "Die Fa. Meier liefert.") << code;
  EXPECT_EQ(with_bars("Det gjelder Haakon VII. Konge.", "nb"), "Det gjelder Haakon VII. Konge.") << "a relative";
  for (const char* code : {"en", "", "xx", "nonsense", "\xff"})
    EXPECT_EQ(with_bars("Die Fa. Meier liefert.", code), "Die Fa.|Meier liefert.") << code;
}

}  // namespace
}  // namespace tril::sentence_cases
