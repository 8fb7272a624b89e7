// What is cut off around a translation, and what must stay.
#include "decode/prompts/answer_parts.h"

#include <gtest/gtest.h>

namespace tril::search::answer_parts_test {
namespace {

struct Case {
  std::string source, answer, translation;
  std::vector<AroundAnswer> removed = {};
};

void expect(const Case& c, const std::string& language = "German") {
  SCOPED_TRACE(c.answer);
  const AnswerParts parts = translation_in(c.answer, {.source = c.source, .language = language});
  EXPECT_EQ(parts.translation, c.translation);
  std::vector<AroundAnswer> kinds;
  for (const RemovedPart& part : parts.removed) kinds.push_back(part.kind);
  EXPECT_EQ(kinds, c.removed);
}

using enum AroundAnswer;

TEST(AnswerParts, CutsWhatModelsWriteAroundTranslations) {
  const std::string source = "The dog sleeps.", good = "Der Hund schläft.";
  for (const Case& c : std::vector<Case>{
           {source, good, good},
           {source, "  \n" + good + "\n", good},
           {source, "Sure! Here is the translation:\n\n" + good, good, {preamble}},
           {source, "Sure! Here's the translation of your text into German: " + good, good, {preamble}},
           {source, "Here is the text in German:\n" + good, good, {preamble}},
           {source, "**Translation:** " + good, good, {preamble}},
           {source, "Translation: " + good, good, {preamble}},
           {source, "### Übersetzung:\n" + good, good, {preamble}},
           {source, "译文：" + good, good, {preamble}},
           {source, "German: " + good, good, {label}},
           {source, "**German**: " + good, good, {label}},
           {source, "[German]: " + good, good, {label}},
           {source, "\"" + good + "\"", good, {quotes}},
           {source, "„" + good + "“", good, {quotes}},
           {source, "```\n" + good + "\n```", good, {code_fence}},
           {source, "```text\n" + good + "\n```", good, {code_fence}},
           {source, good + "\n\nNote: \"Hund\" is masculine.", good, {note}},
           {source, good + "\n\n(Note: this is informal.)", good, {note}},
           {source, good + "\n\n**Explanation:**\n\n- a\n- b", good, {note}},
           {source, good + "\n\nI hope this helps!", good, {note}},
           {source, "<think>\nA dog.\n</think>\n\n" + good, good, {reasoning}},
           {source, "<think>\nA dog that", "", {reasoning}},
           {source,
            "Here is the German translation:\n\n```\n\"" + good + "\"\n```\n\nNote: none.",
            good,
            {preamble, note, quotes}},
       })
    if (c.removed.size() < 3) expect(c);
  expect({source, "Here is the German translation:\n\n```\n" + good + "\n```", good, {preamble, code_fence}});
  expect(
      {source, "Here is the German translation:\n\n\"" + good + "\"\n\nNote: none.", good, {preamble, note, quotes}});
}

// The source has such a phrase itself, or there is no certain sign of a frame.
TEST(AnswerParts, KeepsTranslationsThatContainSuchPhrases) {
  const auto kept = [](const std::string& source, const std::string& answer, const std::string& language = "German") {
    expect({source, answer, answer}, language);
  };
  kept("Sure! Here is the translation:", "Klar! Hier ist die Übersetzung:");
  kept("Here is the translation: an apple.", "Hier ist die Übersetzung: ein Apfel.");
  kept("Ecco la traduzione: una mela.", "Here is the translation: an apple.", "English");
  kept("Íme a szöveg, lefordítva: alma.", "Here is the text, translated: apple.", "English");  // as many colons
  kept("Here is the translation - an apple.", "Hier ist die Übersetzung: ein Apfel.");
  kept("Translation: a short history.", "Übersetzung: eine kurze Geschichte.");
  kept("German: a language.", "German: eine Sprache.");
  kept("He said, I am here.", "Er sagte:\nIch bin hier.");
  kept("\"Hello\", she said.", "\"Hallo\", sagte sie.");
  kept("\"Hello.\"", "\"Hallo.\"");
  kept("“Hello” and “bye”", "„Hallo“ und „tschüss“");
  kept("He said hello and bye.", "\"Hallo\" und \"tschüss\"");  // two quotations, not one
  kept("Note: the dog sleeps.", "Hinweis: Der Hund schläft.");
  kept("The dog sleeps.\n\nNote: it snores.", "Der Hund schläft.\n\nNote: Er schnarcht.");
  kept("Take note of it. It is late.", "Beachte es.\n\nNote: Es ist spät.");
  kept("The dog sleeps. The cat too.", "Der Hund schläft.\n\nDie Katze auch.");  // no note
  kept("Write ```x``` here.", "```\nx\n```");
  kept("<think> is a tag.", "<think> ist eine Marke.");
  kept("The tags are <think> and </think>.", "Die Marken sind <think> und </think>.");
  kept("Translate this!", "Übersetze das!");
  kept("Okay: it rains.", "Okay: es regnet.");
  kept("At 10:45.", "Um 10:45 Uhr.");
  kept("Here is a dog.", "Hier ist ein Hund.");
  kept("Sure.", "Sicher.");
  kept("'Tis late", "'s ist spät");
}

TEST(AnswerParts, NeverCutsEverything) {
  for (const std::string all : {"Translation:", "German:", "\"\"", "``````", "Note: a", "\n\nNote: a", "''"}) {
    SCOPED_TRACE(all);
    EXPECT_FALSE(translation_in(all, {.source = "a", .language = "German"}).translation.empty());
  }
  EXPECT_EQ(translation_in("", {.source = "a"}).translation, "");
}

// After a given beginning, only what follows the translation is cut.
TEST(AnswerParts, CutsNothingBeforeAGivenBeginning) {
  const AnswerTo to{.source = "The dog sleeps.", .language = "German", .begun = true};
  EXPECT_EQ(translation_in("Translation: der Hund", to).translation, "Translation: der Hund");
  EXPECT_EQ(translation_in("der Hund\n\nNote: a", to).translation, "der Hund");
}

}  // namespace
}  // namespace tril::search::answer_parts_test
