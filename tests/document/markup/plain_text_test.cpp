// Plain text: lines are segments, sentences of a line are translated apart, white space stays.
#include "document/markup/plain_text.h"

#include <gtest/gtest.h>

#include "document/segments/document_sentences.h"
#include "support/error_of.h"
#include "support/rounds.h"

namespace tril::document {
namespace {

// The text with each sentence in [].
std::string sentences_in(const std::string& text, PlainSegments segments = PlainSegments::lines,
                         Split split = Split::sentences) {
  const auto document = read_plain_text(text, segments);
  const DocumentSentences sentences(*document, {.split = split});
  return sentences.write("en", [&](std::size_t s) { return Translated{"[" + sentences.text(s) + "]", {}}; });
}

// tests/unicode/sentences_test.cpp tests the ends of sentences.
TEST(PlainText, SentencesAndWhatLiesBetween) {
  EXPECT_EQ(sentences_in("A dog runs."), "[A dog runs.]");
  EXPECT_EQ(sentences_in(" A dog runs. Two men play!  Why? "), " [A dog runs.] [Two men play!]  [Why?] ");
  EXPECT_EQ(sentences_in("one\n\n two \r\nthree"), "[one]\n\n [two] \r\n[three]");
  EXPECT_EQ(sentences_in("\"Stop!\" He ran. (So.) End"), "[\"Stop!\"] [He ran.] [(So.)] [End]");
  EXPECT_EQ(sentences_in("\u72ac\u304c\u8d70\u308b\u3002\u732b\u3082\u3002"),
            "[\u72ac\u304c\u8d70\u308b\u3002] [\u732b\u3082\u3002]")
      << "a blank, as English is written";
  EXPECT_EQ(sentences_in("A.\u00a0 B? \u3000C"), "[A.\u00a0 B?] \u3000[C]");
  EXPECT_EQ(sentences_in(""), "");
  EXPECT_EQ(sentences_in(" \n "), " \n ");
  EXPECT_EQ(sentences_in("\xef\xbb\xbf"
                         "12\n<b>"),
            "\xef\xbb\xbf"
            "[12]\n[<b>]");
  EXPECT_EQ(sentences_in("A. B\nC", PlainSegments::lines, Split::lines), "[A. B]\n[C]");
  EXPECT_EQ(sentences_in(" A. B\nC ", PlainSegments::whole, Split::none), "[ A. B\nC ]");
}

// Weblate hides the placeholders of a string from the service, and looks for what it has written instead.
TEST(PlainText, WhatWeblateWritesForPlaceholdersComesBack) {
  for (const PlainSegments segments : {PlainSegments::lines, PlainSegments::whole, PlainSegments::prose}) {
    const auto into = [&](const std::string& text, const std::string& translation) {
      const auto document = read_plain_text(text, segments);
      const DocumentSentences sentences(*document, {.split = Split::none});
      return sentences.write("de", [&](std::size_t) { return Translated{translation, {}}; });
    };
    EXPECT_EQ(into("The [X4X] runs.", "Der Hund."), "Der [X4X] Hund.") << "lost by the model";
    EXPECT_EQ(into("[X0X] and [X10X]", "[X10X] und [X0X]"), "[X10X] und [X0X]") << "in the order of the translation";
    EXPECT_EQ(into("The [X4X] runs.", "Der [X4X] [X4X]."), "Der [X4X].") << "doubled";
    EXPECT_EQ(into("The [X4X] runs.", "Der [x4x]."), "Der [X4X].") << "garbled";
    for (const char* const other : {"[XX]", "[X4]", "[X1234567890X]", "X4X", "[X4 X]"})
      EXPECT_EQ(into("The " + std::string(other), "Der"), "Der") << other;
  }
}

TEST(PlainText, TranslatedIntoItselfIsTheSame) {
  const std::vector<std::string> parts{"[X4X]", "[X", "A",  "dog",    ".", " ",      "\n",  "! ",
                                       "\r",    "Mr", ". ", "\u3002", "3", "\u2028", "\xff"};
  test::rounds(3000, [&](RandomSequence& random) {
    std::string text;
    for (std::uint64_t n = random.below(20); n > 0; --n) text += parts[random.below(parts.size())];
    const auto document = read_plain_text(text);
    const DocumentSentences sentences(*document, {});
    ASSERT_EQ(sentences.write("en", [&](std::size_t s) { return Translated{sentences.text(s), {}}; }), text);
  });
}

TEST(PlainText, OtherEncodingsAreRefusedByName) {
  EXPECT_TRUE(error_of([] {
                check_encoding(
                    "\xff\xfe"
                    "a",
                    "x.txt");
              }).find("UTF-16") != std::string::npos);
  EXPECT_TRUE(error_of([] { check_encoding("ab\xe4", "x.txt"); }).find("byte 2 (0xe4)") != std::string::npos);
  check_encoding(
      "\xef\xbb\xbf"
      "\u00e4",
      "x.txt");
}

}  // namespace
}  // namespace tril::document
