// Terminology in texts: which phrases of a source are found, and that their targets are in every translation.
#include "decode/texts/terminology.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/rng.h"
#include "decode/texts/translator.h"
#include "model_io/source/model_source.h"
#include "model_io/source/registry.h"
#include "support/golden.h"
#include "support/small_tokenizer.h"

namespace tril::search {
namespace {

std::string found(const Terminology& terms, std::string_view text) {
  std::string list;
  for (const Term& term : terms.find(text)) list += term.source + ">" + term.target + ";";
  return list;
}

TEST(Terminology, TheLongestAtEachWordIsFound) {
  const Terminology terms({{"dog", "Hund"},
                           {"hot dog", "Wurst"},
                           {"hot dog stand", "Bude"},
                           {"New York", "Neu York"},
                           {"U.S.", "USA"},
                           {"Ä", "Ae"},
                           {"東京", "Tokio"},
                           {"dog", "Hund"}});
  EXPECT_EQ(terms.size(), 7u);
  EXPECT_EQ(found(terms, "a dog"), "dog>Hund;");
  EXPECT_EQ(found(terms, "a dog, a dog. dog"), "dog>Hund;dog>Hund;dog>Hund;");
  EXPECT_EQ(found(terms, "dogs, hotdog, Dog, dog2"), "") << "whole words, as they are written";
  EXPECT_EQ(found(terms, "hot dog"), "hot dog>Wurst;") << "what a phrase covers belongs to no other";
  EXPECT_EQ(found(terms, "a hot dog stand"), "hot dog stand>Bude;");
  EXPECT_EQ(found(terms, "a hot dog standing"), "hot dog>Wurst;");
  EXPECT_EQ(found(terms, "hot dogs"), "");
  EXPECT_EQ(found(terms, "(dog)-\"dog\""), "dog>Hund;dog>Hund;");
  EXPECT_EQ(found(terms, "in the U.S. now"), "U.S.>USA;");
  EXPECT_EQ(found(terms, "Ä Äh"), "Ä>Ae;");
  EXPECT_EQ(found(terms, "在東京都"), "東京>Tokio;");
  EXPECT_EQ(found(terms, ""), "");
  EXPECT_THROW(Terminology(std::vector<Term>{{"a", "b"}, {"a", "c"}}), Error);
  EXPECT_THROW(Terminology(std::vector<Term>{{" ", "b"}}), Error);
}

// The golden MarianMT model, whose weights are random, with a tokenizer of its own.
struct Translates : ::testing::Test {
  static void SetUpTestSuite() {
    tokenizer = test::small_tokenizer();
    model = model::load(model::ModelSource::open(test::golden_directory() / "hf" / "marian"));
  }
  static void TearDownTestSuite() {
    model.reset();
    tokenizer.reset();
  }

  static TranslatorOptions options(std::int32_t beam_size, std::vector<Term> terms) {
    TranslatorOptions o;
    o.decoding.search.beam_size = beam_size;
    o.decoding.search.eos_ids = {model->special_ids().eos};
    o.decoding.batch_size = 16;
    o.terminology = std::make_shared<const Terminology>(std::move(terms));
    return o;
  }

  static inline std::shared_ptr<const Tokenizer> tokenizer;
  static inline std::unique_ptr<model::Model> model;
};

// Positions of a phrase among a text's words, with punctuation split off: independent of the program's search.
std::size_t places(const std::string& phrase, const std::string& text) {
  const auto words_of = [](const std::string& s) {
    std::vector<std::string> words(1);
    for (char ch : s)
      if (ch == ' ')
        words.emplace_back();
      else if (std::ispunct(static_cast<unsigned char>(ch)))
        words.push_back(std::string(1, ch)), words.emplace_back();
      else
        words.back() += ch;
    std::erase(words, "");
    return words;
  };
  const auto words = words_of(text), wanted = words_of(phrase);
  std::size_t n = 0;
  for (std::size_t i = 0; i + wanted.size() <= words.size(); ++i)
    n += std::equal(wanted.begin(), wanted.end(), words.begin() + static_cast<std::ptrdiff_t>(i)) ? 1 : 0;
  return n;
}

TEST_F(Translates, EveryTargetIsInTheTextAsOftenAsItsSource) {
  const std::vector<Term> terms{{"dog", "the old snow"}, {"red ball", "ball"},      {"ball", "red ball"},
                                {"men", "snow of"},      {"two men", "of two men"}, {"snow", "house, house"},
                                {"plays", "a"}};
  const std::vector<std::string> words{"a", "dog", "red", "ball", "two", "men", "snow", "plays", "the", "in"};
  std::vector<std::string> texts;
  RandomSequence random(1, 1);
  for (int i = 0; i < 300; ++i) {
    texts.emplace_back();
    for (std::uint64_t n = 1 + random.below(6); n > 0; --n) texts.back() += words[random.below(words.size())] + " ";
  }
  const Terminology terminology(terms);
  std::size_t asked = 0, by_itself = 0;
  for (std::int32_t beam_size : {3, 8}) {
    Translator translator(*model, tokenizer, options(beam_size, terms));
    TranslatorOptions without = options(beam_size, {});
    Translator free(*model, tokenizer, without);
    const auto translations = translator.translate(texts), plain = free.translate(texts);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const Translation& best = translations[i][0];
      const std::vector<Term> here = terminology.find(texts[i]);
      EXPECT_TRUE(best.unsatisfied.empty()) << texts[i] << " -> " << best.text;
      for (const Term& term : here) {
        std::size_t wanted = 0;
        for (const Term& other : here) wanted += places(term.target, other.target);
        EXPECT_GE(places(term.target, best.text), wanted) << term.target << " in: " << best.text;
        ++asked;
        by_itself += places(term.target, plain[i][0].text) >= wanted ? 1 : 0;
      }
      if (here.empty()) {
        EXPECT_EQ(best.text, plain[i][0].text);
      }
    }
  }
  EXPECT_GT(asked, 800u);
  EXPECT_LT(by_itself, asked / 2) << "most targets come without being asked for";
}

TEST_F(Translates, WhatTheVocabularyOrTheLengthForbidsIsNamed) {
  TranslatorOptions o =
      options(4, {{"dog", "東京"}, {"ball", "snow"}, {"men", "the old dog and the ball in the house"}});
  o.max_length = 8;
  Translator translator(*model, tokenizer, o);
  const auto t = translator.translate(std::vector<std::string>{"a dog ball men"})[0][0];
  ASSERT_EQ(t.unsatisfied.size(), 2u) << t.text;
  EXPECT_EQ(t.unsatisfied[0].source, "dog");
  EXPECT_EQ(t.unsatisfied[1].source, "men");
  EXPECT_EQ(places("snow", t.text), 1u) << t.text;
  o.decoding.search.beam_size = 1;
  EXPECT_THROW(Translator(*model, tokenizer, o), Error);
}

TEST_F(Translates, PartialTextEndsInTheTranslation) {
  TranslatorOptions o = options(1, {});
  o.terminology.reset();
  o.max_length = 12;
  for (std::int32_t beam_size : {1, 4}) {
    o.decoding.search.beam_size = beam_size;
    Translator translator(*model, tokenizer, o);
    const std::vector<std::string> texts{"a dog runs", "", "two men"};
    std::vector<std::vector<std::string>> told(3);
    const auto result = translator.translate(
        texts, {}, {.on_partial = [&](std::size_t i, const std::string& so_far) { told.at(i).push_back(so_far); }});
    EXPECT_TRUE(told[1].empty());
    for (std::size_t i : {std::size_t{0}, std::size_t{2}}) {
      EXPECT_GE(told[i].size(), 3u);
      if (beam_size == 1) {
        for (const std::string& text : told[i]) EXPECT_TRUE(result[i][0].text.starts_with(text)) << text;
      }
    }
  }
}

}  // namespace
}  // namespace tril::search
