// Regular expressions as patterns and grammars, against slow, independent matchers.
#include "grammar/expressions/pattern.h"

#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "grammar/expressions/pattern_of_regex.h"
#include "support/constraints.h"

namespace tril::search {
namespace {

TEST(Pattern, MatchesWhatStandardRegularExpressionsMatch) {
  const std::vector<std::string> patterns{
      "abc",        "a|bc|",    "a*b+c?",    "(ab){2,3}", "[a-c]{3}", "[^a]b", "a.c",   "(a|b)*c", "(?:ab|a)(c|bc)",
      "a{2}",       "a{0,2}b",  "\\d+[a-b]", "x{0}a",     "^ab$",     "^a|b$", "a$|^c", "(^a)?b",  "\\w\\W",
      "[\\d\\-a]+", "[]a]*|b",  "(a*)*",     "(a+|b+)+c", "a+?b",     "^$",    "^$^$",  "$^",      "(^$)*^|a",
      "\\.",        "[a\\]b]+", "ca{1,}b"};
  RandomSequence random(3, 3);
  const std::string letters = "aabbcc1.- ]";
  std::vector<std::string> texts{""};
  for (int i = 0; i < 400; ++i) {
    std::string text;
    for (std::uint64_t n = random.below(7); n > 0; --n) text += letters[random.below(letters.size())];
    texts.push_back(text);
  }
  for (const std::string& p : patterns) {
    const bool ecma_differs = p == "[]a]*|b";  // [] is an empty class
    const std::regex expected(ecma_differs ? "$.a]*|b" : p);
    const Pattern whole = pattern_of_regex(p, RegexMatch::whole), part = pattern_of_regex(p, RegexMatch::part);
    for (const std::string& text : texts) {
      EXPECT_EQ(whole.matches(text), std::regex_match(text, expected)) << p << " on " << text;
      EXPECT_EQ(part.matches(text), std::regex_search(text, expected)) << p << " in " << text;
    }
  }
}

// A random regular expression as a tree: its text, and its matches by definition.
struct Expression {
  enum class Kind : std::uint8_t { letters, sequence, either, repeat };
  Kind kind = Kind::letters;
  std::u32string letters;  // any of these
  std::vector<Expression> parts;
  int least = 0, most = 0;  // of parts[0]; most -1: any number
  std::string text;

  /// The positions where a match that begins at `i` may end.
  std::set<std::size_t> ends(const std::u32string& on, std::size_t i) const {
    std::set<std::size_t> found;
    if (kind == Kind::letters) {
      if (i < on.size() && letters.find(on[i]) != std::u32string::npos) found.insert(i + 1);
      return found;
    }
    if (kind == Kind::either) {
      for (const Expression& part : parts) found.merge(part.ends(on, i));
      return found;
    }
    std::set<std::size_t> now{i};
    const auto step = [&](const Expression& part) {
      std::set<std::size_t> next;
      for (const std::size_t at : now) next.merge(part.ends(on, at));
      now = next;
    };
    if (kind == Kind::sequence) {
      for (const Expression& part : parts) step(part);
      return now;
    }
    for (int n = 0; n < least; ++n) step(parts[0]);
    found = now;  // more repetitions than letters find nothing new
    for (int n = least; n < (most < 0 ? least + static_cast<int>(on.size()) + 1 : most); ++n) {
      step(parts[0]);
      found.insert(now.begin(), now.end());
    }
    return found;
  }
  bool matches(const std::u32string& on) const { return ends(on, 0).contains(on.size()); }
};

const std::vector<std::pair<char32_t, std::string>>& some_letters() {
  static const std::vector<std::pair<char32_t, std::string>> list{
      {U'a', "a"}, {U'b', "b"}, {U'.', "\\."}, {U'\u00e9', "\u00e9"}, {U'\U0001f600', "\U0001f600"}};
  return list;
}

Expression random_expression(RandomSequence& random, int depth) {
  using enum Expression::Kind;
  const auto letter = [&] { return some_letters()[random.below(some_letters().size())]; };
  Expression e;
  switch (depth >= 4 ? random.below(2) : random.below(7)) {
    case 0: {
      const auto [c, text] = letter();
      e.letters = c, e.text = text;
      return e;
    }
    case 1: {
      const bool others = random.below(3) == 0;
      std::u32string listed;
      e.text = others ? "[^" : "[";
      for (std::uint64_t n = 1 + random.below(3); n > 0; --n) {
        const auto [c, text] = letter();
        listed += c, e.text += text;
      }
      e.text += "]";
      for (const auto& [c, text] : some_letters())
        if ((listed.find(c) != std::u32string::npos) != others) e.letters += c;
      return e;
    }
    case 2:
    case 3:
      e.kind = sequence;
      for (std::uint64_t n = random.below(4); n > 0; --n) {
        e.parts.push_back(random_expression(random, depth + 1));
        e.text += e.parts.back().kind == either ? "(?:" + e.parts.back().text + ")" : e.parts.back().text;
      }
      return e;
    case 4:
      e.kind = either;
      for (std::uint64_t n = 2 + random.below(2); n > 0; --n) {
        e.parts.push_back(random_expression(random, depth + 1));
        e.text += (e.parts.size() > 1 ? "|" : "") + e.parts.back().text;
      }
      return e;
    default: {
      e.kind = repeat;
      e.parts.push_back(random_expression(random, depth + 1));
      e.text = e.parts[0].kind == letters ? e.parts[0].text : "(" + e.parts[0].text + ")";
      const std::vector<std::tuple<const char*, int, int>> marks{
          {"*", 0, -1}, {"+", 1, -1}, {"?", 0, 1}, {"{2}", 2, 2}, {"{1,3}", 1, 3}, {"{2,}", 2, -1}, {"*?", 0, -1}};
      const auto& [mark, least, most] = marks[random.below(marks.size())];
      e.text += mark, e.least = least, e.most = most;
      return e;
    }
  }
}

// 500 random expressions, and their grammars, against the definition; every search under them gives a
// match.
TEST(Pattern, MatchesWhatTheDefinitionSays) {
  Searches searches(tokens());
  RandomSequence random(77, 1);
  std::int64_t yes = 0, no = 0;
  for (int i = 0; i < 500; ++i) {
    const Expression e = random_expression(random, 0);
    SCOPED_TRACE(e.text);
    const Pattern pattern = pattern_of_regex(e.text, RegexMatch::whole);
    const auto constraint = std::make_shared<const Constraint>(regex_grammar(e.text), searches.trie);
    for (int n = 0; n < 60; ++n) {
      std::u32string text;
      std::string bytes;
      for (std::uint64_t length = random.below(7); length > 0; --length) {
        const char32_t c = some_letters()[random.below(random.below(2) ? 2 : some_letters().size())].first;
        text += c;
        bytes += c == U'\u00e9' ? "\u00e9" : c == U'\U0001f600' ? "\U0001f600" : std::string(1, static_cast<char>(c));
      }
      const bool expected = e.matches(text);
      (expected ? yes : no)++;
      EXPECT_EQ(pattern.matches(bytes), expected) << bytes;
      EXPECT_EQ(constraint->allows(bytes), expected) << bytes;
    }
    SearchPlan o = searches.options(constraint);
    o.sampling.on = i % 2 == 0;
    const std::string found = searches.text(searches.run(
        o, static_cast<std::int32_t>(constraint->least_tokens()) + 1 + i % 9, static_cast<std::uint64_t>(i))[0]);
    EXPECT_TRUE(pattern.matches(found)) << found;
  }
  EXPECT_GT(yes, 1500);
  EXPECT_GT(no, 5000);
}

TEST(Pattern, KnowsCharactersAndCombines) {
  const auto matches = [](const char* p, const std::string& text) {
    return pattern_of_regex(p, RegexMatch::whole).matches(text);
  };
  EXPECT_TRUE(matches("[\u00e0-\u00ff\U0001f600]{2}", "\u00e9\U0001f600"));
  EXPECT_FALSE(matches("[\u00e0-\u00ff]", "\u0100"));
  EXPECT_TRUE(matches("\\u00e9\\x41\\u{1F600}\\uD83D\\uDE00\\t", "\u00e9A\U0001f600\U0001f600\t"));
  EXPECT_TRUE(matches(".", "\U0001f600"));
  EXPECT_FALSE(matches(".", "\n"));
  EXPECT_TRUE(matches("[^a]", "\n"));
  EXPECT_TRUE(matches("(?<year>\\d{4})\\/\\D", "2020/\u00e9"));
  const Pattern both = pattern_of_regex("a*b*", RegexMatch::whole) & Pattern::of_length(2, 3);
  for (const char* text : {"aa", "ab", "abb", "bbb"}) EXPECT_TRUE(both.matches(text)) << text;
  for (const char* text : {"", "a", "ba", "aabb"}) EXPECT_FALSE(both.matches(text)) << text;
  const std::vector<std::string> names{"a", "abc", "\u00e9"};
  const Pattern others = Pattern::except(names), these = Pattern::of_texts(names);
  for (const char* text : {"", "ab", "abcd", "b", "\u00e8", "\u00e9a"}) {
    EXPECT_TRUE(others.matches(text)) << text;
    EXPECT_FALSE(these.matches(text)) << text;
  }
  for (const std::string& text : names) {
    EXPECT_FALSE(others.matches(text)) << text;
    EXPECT_TRUE(these.matches(text)) << text;
  }
}

// ECMA-262, 22.2.1: the letter's number among 32.
TEST(Pattern, ControlCharactersHaveLetters) {
  const Pattern p = pattern_of_regex("\\cA[\\cJ-\\cm]\\cZ", RegexMatch::whole);
  for (const char* text : {"\x01\n\x1a", "\x01\r\x1a"}) EXPECT_TRUE(p.matches(text));
  for (const char* text : {"cA\n\x1a", "\x01\x0e\x1a", "\x01\nZ"}) EXPECT_FALSE(p.matches(text));
}

TEST(Pattern, RefusesByNameWhatItDoesNotKnow) {
  for (const auto& [regex, expected] :
       std::vector<std::pair<std::string, std::string>>{{"a(?=b)", "look-ahead"},
                                                        {"(?<!b)a", "look-behind"},
                                                        {"(a)\\1", "back reference"},
                                                        {"\\bword", "\\b, which is not supported"},
                                                        {"\\p{L}", "\\p, which"},
                                                        {"(?i)a", "a group of a kind"},
                                                        {"a++", "possessive"},
                                                        {"(a", ")"},
                                                        {"a)", "a ) without a ("},
                                                        {"[a", "a ]"},
                                                        {"*a", "repeat of nothing"},
                                                        {"a{3,2}", "at least 3 and at most 2"},
                                                        {"a{999999}", "more than 100000 times"},
                                                        {"[b-a]", "end is before its beginning"},
                                                        {"[a-\\d]", "ends with a character class such as \\d"},
                                                        {"[a-\\W]", "ends with a character class"},
                                                        {"\\c1", "expected a letter after \\c"},
                                                        {"[\\c]", "expected a letter after \\c"},
                                                        {"\\c", "expected a letter after \\c"},
                                                        {"\\", "a character after the backslash"},
                                                        {"(a{100000}){100000}", "states"},
                                                        {"\\uD800", "not a character"},
                                                        {"^*", "a repeat of ^"},
                                                        {std::string(1000, '('), "nested more than 200 deep"},
                                                        {"a\xff", "UTF-8"}})
    expect_refused([&r = regex] { pattern_of_regex(r, RegexMatch::whole); }, expected);
}

TEST(Grammar, RangesOfCharactersAreUtf8) {
  RandomSequence random(1, 1);
  const auto utf8 = [](char32_t c) {
    std::string out;
    if (c < 0x80) return std::string(1, static_cast<char>(c));
    const int tail = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    const int lead = tail == 1 ? 0xc0 : tail == 2 ? 0xe0 : 0xf0;
    out += static_cast<char>(lead | static_cast<int>(c >> (6 * tail)));
    for (int i = tail - 1; i >= 0; --i) out += static_cast<char>(0x80 | (c >> (6 * i) & 0x3f));
    return out;
  };
  for (int i = 0; i < 60; ++i) {
    const char32_t bounds[] = {0x80, 0x800, 0xd800, 0xe000, 0x10000, 0x110000, 0x1000, 0x40000};
    const auto any = [&] {
      const char32_t near = bounds[random.below(8)] + static_cast<char32_t>(random.below(5)) - 3;
      const char32_t c = random.below(2) ? near : static_cast<char32_t>(random.below(last_char + 1));
      return std::min<char32_t>(c, last_char);
    };
    char32_t a = any(), b = any();
    if (a > b) std::swap(a, b);
    if ((a >= 0xd800 && a < 0xe000) || (b >= 0xd800 && b < 0xe000)) continue;
    const Constraint one = of_regex(
        fmt::format("[\\u{{{:x}}}-\\u{{{:x}}}]", static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b)));
    for (const char32_t c : std::vector<char32_t>{a, b, a - 1, b + 1, any(), any(), any(), any(), (a + b) / 2})
      if (c <= last_char && (c < 0xd800 || c > 0xdfff)) {
        EXPECT_EQ(one.allows(utf8(c)), c >= a && c <= b)
            << std::uint32_t{a} << " " << std::uint32_t{b} << " " << std::uint32_t{c};
      }
  }
}

}  // namespace
}  // namespace tril::search
