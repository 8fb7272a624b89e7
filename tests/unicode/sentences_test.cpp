// The ends of sentences in many languages, found in linear time.
#include "unicode/sentences.h"

#include <gtest/gtest.h>

#include "base/rng.h"
#include "unicode/characters.h"
#include "unicode/trim.h"

namespace tril {
namespace {

// The sentences of a line with | between them, without white space around the bars.
std::string cut(std::string_view line) {
  std::string s;
  while (!(line = trim(line)).empty()) {
    const std::size_t end = sentence_end(line);
    if (end == 0 || end > line.size()) return "no end";
    s += (s.empty() ? "" : "|") + std::string(trim(line.substr(0, end)));
    line.remove_prefix(end);
  }
  return s;
}

// Lines with a bar at each expected end.
void expect(const std::vector<std::string>& lines) {
  for (const std::string& expected : lines) {
    std::string line;
    for (const char c : expected) line += c == '|' ? ' ' : c;
    EXPECT_EQ(cut(line), expected);
  }
}

TEST(Sentences, English) {
  expect({"Dr. Smith met Mr. Jones.|They ate at 3.14 p.m. today.",
          "Visit www.example.com.|Now!",
          "It costs $5.00.|OK?",
          "He said \"Go.\"|Then left.",
          "U.S. army.|The U.S. Army is big.",
          "He moved to the U.S. in May.|She stayed in the U.S.|They met again.",
          "1. First item",
          "2. Second item",
          "Wait... what?|Yes!",
          "What?!|No way.",
          "a.b.c.",
          "No space.Here",
          "(See fig. 3.)|Next.",
          "e.g. this, i.e. that.|End.",
          "Version 2.0.1 is out.|Get it.",
          "J. K. Rowling wrote it.",
          "on Jan. 5 we met.|Ok",
          "Smith et al. 2020 show it.",
          "Hi \U0001f600.|Bye",
          "Hello .NET world.|Yes",
          "He was born in 1990.|She left in 2005.|Then it ended.",
          "We have 5.|They have 6.",
          "I am 12.|Tom is 13.",
          "The price is 10%.|Buy now.",
          "First.|Second.",
          "A. B. C.",
          "I like vitamin C.|It helps.",
          "Plan B.|That is it.",
          "it is me and I.|He knows.",
          "See no. 5 please.",
          "He said no.|Nobody left.",
          "approx. 20 people",
          "Fig. 2 shows it",
          "Sec. 3",
          "pp. 5-6",
          "vol. 2",
          "St. Mary",
          "Inc. 5 firms",
          "Gen. Lee",
          "vs. 2",
          "Feb. 3",
          "See Figs. 2 and Eq. 7.|Both hold.",
          "They met at 5 p.m.|He left.",
          "\"Stop!\"|He ran.|(So.)|End",
          "\u201cStop!\u201d, he said.",
          "What a day\u2026|Nobody came.",
          "It was late \u2026 and cold.",
          "She asked: \u201cWhy?\u201d|Nobody knew."});
  EXPECT_EQ(cut("First.\tSecond."), "First.|Second.");
  EXPECT_EQ(cut("A.\u00a0B. C."), "A.\u00a0B. C.");
  EXPECT_EQ(cut("  lead. trail.  "), "lead. trail.") << "what goes on in small letters goes on";
  EXPECT_EQ(cut("one\n two.\r\nThree"), "one\n two.|Three") << "a line end is white space";
}

TEST(Sentences, German) {
  expect({"z.B. ein Test.|Das ist gut.",
          "Am 3. Mai regnet es.|Ja.",
          "am 5. Mai 2020 war es.|Ja.",
          "Er kam am 3. Oktober.|Dann ging er.",
          "Im 19. Jahrhundert war das so.|Heute nicht.",
          "Der 2. Versuch gelang.|Er freute sich.",
          "Das gilt z. B. Montags, d. h. oft.|Aber nicht immer.",
          "Vom 1.\u20133. Oktober.|Danach ist zu.",
          "Er hat 5.|Sie haben 6.",
          "Prof. Dr. M\u00fcller",
          "Nr. 7",
          "Er wohnt in der Hauptstr. 5.|Sie auch.",
          "Siehe \u00a7 5 Abs. 2 S. 1 BGB.|Danach gilt das.",
          "Am 24.12. ist Heiligabend.|Wir feiern.",
          "ca. 20",
          "Art. 5 GG",
          "Abs. 2",
          "S. 17",
          "Siehe Abb. 3 und Tab. 4.|Dort steht es.",
          "\u201eGeh!\u201c|Er ging.",
          "Er ging.|\u00bbKomm\u00ab, sagte er."});
}

TEST(Sentences, FrenchSpanishItalianPortuguese) {
  expect({"Marchons, marchons !|Qu'un sang impur abreuve nos sillons !", "\u00abVa.\u00bb|Il part.",
          "\u00ab\u00a0Va\u202f!\u00a0\u00bb|Il part.", "M. Dupont et Mme Durand.|Ils partent.",
          "Cf. p. 12 et art. 3.|Ensuite, plus rien.", "\u00bfC\u00f3mo est\u00e1s?|\u00a1Bien!",
          "La Sra. P\u00e9rez vive en EE.UU. desde 1990.|\u00c9l no.", "p\u00e1g. 5",
          "C\u2019est l\u2019art. 5.|Il suit.", "Il dott. Rossi \u00e8 qui.|Lei no.", "O Sr. Silva saiu.|Ela ficou."});
}

TEST(Sentences, RussianPolishGreek) {
  expect(
      {"\u043c\u044b.|\u041e\u043d\u0438.",
       "\u0410. \u0421. \u041f\u0443\u0448\u043a\u0438\u043d \u0440\u043e\u0434\u0438\u043b\u0441\u044f \u0432 1799 "
       "\u0433.|\u041e\u043d "
       "\u043f\u043e\u044d\u0442.",
       "\u0440\u0438\u0441. 2",
       "\u2014 \u0414\u0430! \u2014 \u0441\u043a\u0430\u0437\u0430\u043b \u043e\u043d.|\u041f\u043e\u0442\u043e\u043c "
       "\u0443\u0448\u0451\u043b.",
       "Zob. rys. 5 i str. 7.|To wszystko.",
       "\u03a4\u03b9 \u03ba\u03ac\u03bd\u03b5\u03b9\u03c2;|\u039a\u03b1\u03bb\u03ac.",
       "\u039f \u03ba. \u03a0\u03b1\u03c0\u03b1\u03b4\u03cc\u03c0\u03bf\u03c5\u03bb\u03bf\u03c2 "
       "\u03ae\u03c1\u03b8\u03b5.|\u039d\u03b1\u03b9."});
  EXPECT_EQ(cut("one; Two"), "one; Two") << "a semicolon is a question mark behind Greek letters alone";
}

TEST(Sentences, ScriptsWithMarksOfTheirOwn) {
  expect(
      {"\u092f\u0939 \u090f\u0915 \u0935\u093e\u0915\u094d\u092f \u0939\u0948\u0964|\u092f\u0939 "
       "\u0926\u0942\u0938\u0930\u093e \u0939\u0948\u0964",
       "\u06cc\u06c1 \u0627\u06cc\u06a9 \u06c1\u06d2\u06d4|\u06cc\u06c1 \u062f\u0648\u0633\u0631\u0627 "
       "\u06c1\u06d2\u06d4",
       "\u0643\u064a\u0641 \u062d\u0627\u0644\u0643\u061f|\u0623\u0646\u0627 \u0628\u062e\u064a\u0631.",
       "\u12ed\u1205 \u1290\u12cd\u1362|\u120c\u120b \u1290\u12cd\u1362",
       "\u1019\u1004\u103a\u1039\u1002\u101c\u102c\u1015\u102b\u104b|"
       "\u1000\u1031\u102c\u1004\u103a\u1038\u1015\u102b\u1010\u101a\u103a\u104b",
       "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35 \u0e04\u0e23\u0e31\u0e1a",
       "\uc548\ub155\ud558\uc138\uc694.|\ubc18\uac11\uc2b5\ub2c8\ub2e4."});
  // Without a space in between.
  EXPECT_EQ(cut("\u65e5\u672c\u8a9e\u3002\u6b21\u306e\u6587\u3002"),
            "\u65e5\u672c\u8a9e\u3002|\u6b21\u306e\u6587\u3002");
  EXPECT_EQ(cut("\u672c\u5f53\uff1f\uff01\u306f\u3044\u3002"), "\u672c\u5f53\uff1f\uff01|\u306f\u3044\u3002");
  EXPECT_EQ(cut("\u300c\u884c\u3051\u3002\u300d\u5f7c\u306f\u884c\u3063\u305f\u3002"),
            "\u300c\u884c\u3051\u3002\u300d|\u5f7c\u306f\u884c\u3063\u305f\u3002");
  EXPECT_EQ(cut("\u4ed6\u8bf4\u3002\u201c\u597d\u3002\u201d\u8d70\u4e86\u3002"),
            "\u4ed6\u8bf4\u3002|\u201c\u597d\u3002\u201d|\u8d70\u4e86\u3002");
  EXPECT_EQ(cut("\u0939\u093f\u0928\u094d\u0926\u0940\u0964\u0926\u0942\u0938\u0930\u093e\u0964"),
            "\u0939\u093f\u0928\u094d\u0926\u0940\u0964|\u0926\u0942\u0938\u0930\u093e\u0964");
}

// Independent of ICU's Unicode version.
TEST(Sentences, MarksOfNewerUnicodeVersions) {
  for (const char32_t c : {0xfe12, 0xfe15, 0xfe16, 0x2cf9, 0x2cfa, 0x2cfb, 0x1b4e, 0x1b4f, 0x1b7f, 0x113d4, 0x113d5,
                           0x16d6e, 0x16d6f, 0x2e60, 0x2e61}) {
    std::string mark;
    append_utf8(mark, c);
    EXPECT_EQ(cut("one" + mark + "two" + mark), "one" + mark + "|two" + mark) << std::hex << std::uint32_t{c};
  }
  EXPECT_EQ(cut("one\u2cf8two \u2e5fthree"), "one\u2cf8two \u2e5fthree") << "those beside them are none";
  EXPECT_EQ(cut("\u4e00\ufe52 \u4e8c\ufe52"), "\u4e00\ufe52|\u4e8c\ufe52");
  EXPECT_EQ(cut("3\ufe525"), "3\ufe525");
}

TEST(Sentences, AParagraphSeparatorEndsOne) {
  EXPECT_EQ(cut("one\u2029two"), "one|two");
  EXPECT_EQ(sentence_end("one \u2029 two"), 3u) << "white space is no part of it";
  EXPECT_EQ(cut("see e.g.\u2029the next"), "see e.g.|the next") << "whatever stands in front of it";
  EXPECT_EQ(cut("Go!\u2029and go"), "Go!|and go");
  EXPECT_EQ(cut("\u00ab Va !\u2029\u00bb Il part."), "\u00ab Va !|\u00bb Il part.");
  EXPECT_EQ(sentence_end("\u2029one"), 6u) << "nothing is no sentence";
  EXPECT_EQ(cut("one\u2028two\u0085three"), "one\u2028two\u0085three") << "line ends are white space";
}

// Every end is between characters, not within one, and invalid UTF-8 does no harm.
TEST(Sentences, StopsWithoutWordsBetweenThemAreSentencesOrParts) {
  for (const char* text : {"a. .", ". .", "z. . b", "A. . ."}) EXPECT_NE(cut(text), "no end") << text;
}

TEST(Sentences, AnyTextComesToAnEnd) {
  RandomSequence random(3, 7);
  const std::vector<std::string> parts{"A",      "dog",        ".",   " ",      "\n",     "! ",       "\u3002",
                                       "\u00bb", "3",          "No",  ";",      "\u03b1", "\u2026",   "\"",
                                       "\u201c", "\u0964",     "e.g", "\u00a0", "\xff",   "\xe0\xa4", "-",
                                       "am",     "\U0001f600", "?",   "\u2029"};
  for (int i = 0; i < 20'000; ++i) {
    std::string line;
    for (std::uint64_t n = 1 + random.below(20); n > 0; --n) line += parts[random.below(parts.size())];
    const std::size_t end = sentence_end(line);
    ASSERT_TRUE(end > 0 && end <= line.size()) << line;
    ASSERT_EQ(is_utf8(line.substr(0, end)) && is_utf8(line.substr(end)), is_utf8(line)) << line;
  }
}

// Texts that would take hours if parts were scanned again for each sentence.
TEST(Sentences, TimeGrowsAsTheTextDoes) {
  for (const std::string part :
       {".", ". ", "? ", "a.", "A. ", "5. ", "! -", "\u00bb ", ".) ", "; ", "\u03b1; ", "\u2029", "a\u2029 ",
        "\u4e2d\u2026\u300d\u306e\u5c71", "\u300c\u5c71\u2026", "\u5c71\uff01\u300d\u3068", "\"\u5c71\u3002\u3001"}) {
    std::string line;
    while (line.size() < 500'000) line += part;
    std::size_t ends = 0;
    for (std::string_view rest = line; !rest.empty(); ++ends) rest.remove_prefix(sentence_end(rest));
    EXPECT_GT(ends, 0u);
  }
  std::string spaces(4'000'000, ' ');
  EXPECT_EQ(sentence_end("A dog." + spaces + "b"), spaces.size() + 7);
}

}  // namespace
}  // namespace tril
