// Marks follow their words, and none is lost, doubled or nested wrongly, whatever the alignment.
#include "document/segments/place_marks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/as_size.h"
#include "document/segments/sentences.h"
#include "document/segments/words.h"
#include "support/rounds.h"

namespace tril::document {
namespace {

std::string as_it_is(std::string_view text) {
  return std::string(text);
}

// A segment of text with "[1", "1]" for pairs, "*1*" for points and "{x}" for fixed words.
Segment marked(std::string_view text) {
  Segment s;
  std::vector<std::size_t> open;
  const auto parent = [&] { return open.empty() ? -1 : static_cast<std::int32_t>(open.back()); };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t at = s.text.size();
    if (text[i] == '[') {
      s.marks.push_back({MarkKind::pair, {at, at}, "[", "]", parent()});
      open.push_back(s.marks.size() - 1);
    } else if (text[i] == ']') {
      s.marks[open.back()].at.end = at;
      open.pop_back();
    } else if (text[i] == '*') {
      s.marks.push_back({MarkKind::point, {at, at}, "*", "", parent()});
    } else if (text[i] == '{') {
      const std::size_t end = text.find('}', i);
      s.text += text.substr(i, end + 1 - i);
      s.marks.push_back({MarkKind::fixed, {at, s.text.size()}, s.text.substr(at), "", parent(), true});
      i = end;
    } else {
      s.text += text[i];
    }
  }
  return s;
}

// Links between words by their numbers in both texts.
std::vector<Link> word_links(const Segment& source, std::string_view target, std::vector<std::pair<int, int>> pairs) {
  const std::vector<Range> from = words_of(source.text), to = words_of(target);
  std::vector<Link> links;
  for (const auto& [s, t] : pairs) links.push_back({from[as_size(s)], to[as_size(t)], 1});
  return links;
}

std::string placed(std::string_view source, const std::string& target, std::vector<std::pair<int, int>> pairs) {
  const Segment s = marked(source);
  return rendered(place_marks(s, {target, word_links(s, target, std::move(pairs))}), as_it_is);
}

TEST(PlaceMarks, PairsGoWithTheirWords) {
  EXPECT_EQ(placed("a [red] ball", "ein roter Ball", {{0, 0}, {1, 1}, {2, 2}}), "ein [roter] Ball");
  EXPECT_EQ(placed("a [red] ball", "un ballon rouge", {{0, 0}, {2, 1}, {1, 2}}), "un ballon [rouge]");
  EXPECT_EQ(placed("[a] [b]", "b a", {{0, 1}, {1, 0}}), "[b] [a]");
  EXPECT_EQ(placed("[a [b] c] d", "d c b a", {{0, 3}, {1, 2}, {2, 1}, {3, 0}}), "d [c [b] a]");
  EXPECT_EQ(placed("I [gave up] it", "ich gab es auf", {{0, 0}, {1, 1}, {3, 2}, {2, 3}}), "ich [gab es auf]")
      << "one word between is taken in";
  EXPECT_EQ(placed("the [old] dog.", "Hund.", {{2, 0}, {3, 1}}), "[Hund].") << "no word of it is left";
  EXPECT_EQ(placed("the [old] dog.", "der Hund.", {{2, 1}, {3, 2}}), "[der] Hund.") << "a word without counterpart";
  EXPECT_EQ(placed("[the] [old] dog.", "der.", {{0, 0}, {3, 1}}), "[der][].") << "no word for it is left";
}

TEST(PlaceMarks, PointsStayBesideTheirNeighbours) {
  EXPECT_EQ(placed("a* b", "x y", {{0, 1}, {1, 0}}), "x y*");
  EXPECT_EQ(placed("a *b", "x y", {{0, 1}, {1, 0}}), "*x y");
  EXPECT_EQ(placed("*a b", "x y", {{0, 1}, {1, 0}}), "*x y") << "what stands at an edge stays there";
  EXPECT_EQ(placed("a b*", "x y", {{0, 1}, {1, 0}}), "x y*");
  EXPECT_EQ(placed("a * b", "x y", {{0, 0}, {1, 1}}), "x * y");
  EXPECT_EQ(placed("[a* b] c", "z x y", {{0, 1}, {1, 2}, {2, 0}}), "z [x* y]") << "within its parent";
}

TEST(PlaceMarks, RangesBeginBeforeTheyEnd) {
  Segment source = marked("a *b c d* e");
  source.marks[0].open = "<", source.marks[1].open = ">";
  const auto written = [&] {
    const std::string target = "d c b";
    const auto links = word_links(source, target, {{1, 2}, {2, 1}, {3, 0}});
    return rendered(place_marks(source, {target, links}), as_it_is);
  };
  EXPECT_EQ(written(), "d> c <b") << "points beside their words";
  source.marks[1].begin = 0;
  EXPECT_EQ(written(), "d< c >b");
}

TEST(PlaceMarks, FixedWordsOccurOnce) {
  EXPECT_EQ(placed("Hello {name}!", "Hallo {name}!", {}), "Hallo {name}!");
  EXPECT_EQ(placed("Hello {name}!", "Hallo { Name }!", {}), "Hallo {name}!") << "garbled";
  EXPECT_EQ(placed("Hello {name}!", "Hallo {name} {name}!", {}), "Hallo {name}!") << "a copy too many";
  EXPECT_EQ(placed("Hello {name} .", "Hallo .", {{0, 0}, {4, 1}}), "Hallo {name} .") << "missing";
  EXPECT_EQ(placed("{a} and {b}", "{b} und {a}", {}), "{b} und {a}");
  EXPECT_EQ(placed("[see {a}] or {b}", "{b} oder {a} sehen", {{0, 7}}), "{b} oder [{a} sehen]");
  EXPECT_EQ(placed("[{a}] x [{b}]", "x {b}{a}", {}), "x [{b}][{a}]");
}

TEST(PlaceMarks, WithoutAlignmentEqualWordsAndPlacesDecide) {
  EXPECT_EQ(placed("see [Berlin] now", "jetzt Berlin sehen", {}), "jetzt [Berlin] sehen");
  EXPECT_EQ(placed("one two [three] four", "eins zwei drei vier", {}), "eins zwei [drei] vier");
}

// A random segment: words with pairs, points and fixed words at any nesting.
Segment random_segment(RandomSequence& random) {
  Segment s;
  std::vector<std::size_t> open;
  const std::uint64_t steps = 1 + random.below(40);
  const auto parent = [&] { return open.empty() ? -1 : static_cast<std::int32_t>(open.back()); };
  for (std::uint64_t i = 0; i < steps; ++i) {
    const std::size_t at = s.text.size();
    const std::string number = std::to_string(s.marks.size());
    switch (random.below(9)) {
      case 0:
        if (open.size() + 1 < most_nested_marks) {
          s.marks.push_back({MarkKind::pair, {at, at}, "<" + number + ">", "</" + number + ">", parent()});
          open.push_back(s.marks.size() - 1);
        }
        break;
      case 1:
        if (!open.empty()) s.marks[open.back()].at.end = at, open.pop_back();
        break;
      case 2:
        s.marks.push_back({MarkKind::point, {at, at}, "<" + number + "/>", "", parent()});
        break;
      case 3:
        s.text += random.below(3) > 0 ? "{n" + std::to_string(random.below(4)) + "}" : "%s";
        s.marks.push_back({MarkKind::fixed, {at, s.text.size()}, "<f" + number + "/>", "", parent(), true});
        break;
      case 4:
        s.text += ' ';
        break;
      default:
        s.text += std::string(random.below(3), ' ') +
                  std::string(1 + random.below(4), static_cast<char>('a' + random.below(4)));
    }
  }
  for (; !open.empty(); open.pop_back()) s.marks[open.back()].at.end = s.text.size();
  return s;
}

std::string random_target(RandomSequence& random) {
  static const std::vector<std::string> parts{"x",    "yy", " ",   " ",      "  ", ".", "{n0}",
                                              "{n1}", "%s", "% s", "{ N2 }", "犬", "é", "ab"};
  std::string target;
  for (std::uint64_t n = random.below(30); n > 0; --n) target += parts[random.below(parts.size())];
  return target;
}

std::vector<Link> random_links(RandomSequence& random, const Segment& s, const std::string& target) {
  std::vector<Link> links;
  const std::vector<Range> from = words_of(s.text), to = words_of(target);
  if (from.empty() || random.below(5) == 0) return links;
  for (const Range& t : to)
    for (std::uint64_t n = random.below(3); n > 0; --n)
      links.push_back({from[random.below(from.size())], t, static_cast<float>(random.uniform()) + 0.01f});
  return links;
}

// Every mark once, as a tree: a parser of the rendered text finds each tag closed within its parent.
void expect_whole(const Segment& source, const std::string& text) {
  std::set<std::size_t> seen;
  std::vector<std::int32_t> open{-1};
  for (std::size_t at = text.find('<'); at != std::string::npos; at = text.find('<', at)) {
    const std::size_t end = text.find('>', at);
    std::string tag = text.substr(at + 1, end - at - 1);
    at = end;
    const bool closes = tag[0] == '/', fixed = tag[0] == 'f', alone = tag.back() == '/';
    if (closes || fixed) tag.erase(0, 1);
    const auto number = static_cast<std::int32_t>(std::stoi(tag));
    if (closes) {
      ASSERT_EQ(open.back(), number) << text;
      open.pop_back();
      continue;
    }
    ASSERT_TRUE(seen.insert(as_size(number)).second) << text;
    ASSERT_EQ(source.marks[as_size(number)].parent, open.back()) << text;
    ASSERT_EQ(source.marks[as_size(number)].kind, fixed ? MarkKind::fixed : alone ? MarkKind::point : MarkKind::pair);
    if (!alone) open.push_back(number);
  }
  ASSERT_EQ(open.size(), 1u) << text;
  ASSERT_EQ(seen.size(), source.marks.size()) << text;
}

TEST(PlaceMarks, NoMarkIsLostWhateverTheNestingAndAlignment) {
  test::rounds(10'000, [](RandomSequence& random) {
    const Segment source = random_segment(random);
    const std::string target = random_target(random);
    const Segment result = place_marks(source, {target, random_links(random, source, target)});
    const std::string text = rendered(result, as_it_is);
    SCOPED_TRACE(source.text + "\n" + rendered(source, as_it_is) + "\n" + target);
    expect_whole(source, text);
    // Fixed words: as often as in the source. Other words stay.
    for (const Mark& m : result.marks) {
      if (m.kind != MarkKind::fixed) continue;
      const auto& from = source.marks[as_size(&m - result.marks.data())].at;
      ASSERT_EQ(result.text.substr(m.at.begin, m.at.size()), source.text.substr(from.begin, from.size()));
    }
    const auto count = [](const std::string& s, char c) { return std::count(s.begin(), s.end(), c); };
    const bool any_fixed =
        std::any_of(source.marks.begin(), source.marks.end(), [](const Mark& m) { return m.kind == MarkKind::fixed; });
    for (const char c : {'x', 'y', '.'}) {
      ASSERT_LE(count(result.text, c), count(target, c));
      if (!any_fixed) {
        ASSERT_EQ(count(result.text, c), count(target, c));
      }
    }
  });
}

TEST(PlaceMarks, SentencesOfOneSegmentShareItsMarks) {
  const Segment source = marked("One [dog runs. Two men] play.  End");
  const std::vector<Range> sentences = sentences_of(source, {});
  ASSERT_EQ(sentences.size(), 3u);
  const std::vector<Translated> translations{{"Ein Hund rennt."}, {"Zwei Männer spielen."}, {"Ende"}};
  EXPECT_EQ(rendered(joined(source, sentences, translations, "de"), as_it_is),
            "Ein [Hund rennt. Zwei Männer] spielen.  Ende");
}

TEST(PlaceMarks, LineBreaksStayInThoseSentences) {
  Segment source{"A dog\nruns in the snow.\nTwo men\nplay.", {}, {"\n", "\n> ", "\n\t"}};
  const std::vector<Range> sentences = sentences_of(source, {});
  ASSERT_EQ(sentences.size(), 2u);
  EXPECT_EQ(sentence_text(source, sentences[0]), "A dog runs in the snow.");
  const std::vector<Translated> translations{{"Ein Hund rennt im Schnee."}, {"ZweiMännerSpielen."}};
  EXPECT_EQ(rendered(joined(source, sentences, translations, "de"), as_it_is),
            "Ein\nHund rennt im Schnee.\n> ZweiMännerSpielen.");
  const std::vector<Translated> same{{"A dog runs in the snow."}, {"Two men play."}};
  EXPECT_EQ(joined(source, sentences, same, "de"), source);
}

}  // namespace
}  // namespace tril::document
