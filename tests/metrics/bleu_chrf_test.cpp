// BLEU, chrF and the 13a tokenization against sacrebleu's results on unusual corpora (eval_cases/, made by
// make_eval_cases.py).
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/version.h"
#include "metrics/bleu.h"
#include "metrics/chrf.h"
#include "metrics/tokenize_13a.h"
#include "support/paths.h"
#include "unicode/letter_case.h"

namespace tril {
namespace {

using Lines = std::vector<std::string>;

const nlohmann::json& cases() {
  static const nlohmann::json document =
      nlohmann::json::parse(std::ifstream(test::test_dir() + "/metrics/eval_cases/cases.json"));
  return document;
}

// Our signature is theirs with the metric's name in front and our program as the version.
std::string as_ours(const std::string& name, const std::string& theirs) {
  return name + "|" + theirs.substr(0, theirs.find("version:")) + "version:tril-" + std::string(version);
}

TEST(Bleu, EqualsSacrebleuOnOddCorpora) {
  ASSERT_GE(cases()["cases"].size(), 20u);
  for (const auto& c : cases()["cases"])
    for (const auto& wanted : c["bleu"]) {
      SCOPED_TRACE(c["name"].get<std::string>() + " " + wanted["signature"].get<std::string>());
      const auto references = c["references"].get<std::vector<Lines>>();
      const BleuOptions options{wanted["tokenize"] == "13a" ? BleuTokenizer::v13a : BleuTokenizer::none,
                                wanted["lowercase"]};
      const BleuScore score = bleu(c["hypotheses"].get<Lines>(), references, options);
      EXPECT_NEAR(score.score, wanted["score"], 1e-9);
      EXPECT_NEAR(score.brevity_penalty, wanted["bp"], 1e-12);
      EXPECT_EQ(score.hypothesis_length, wanted["hypothesis_length"]);
      EXPECT_EQ(score.reference_length, wanted["reference_length"]);
      for (std::size_t n = 0; n < 4; ++n)
        EXPECT_NEAR(score.precisions[n], wanted["precisions"][n], 1e-9) << "order " << n + 1;
      EXPECT_EQ(bleu_signature(options, references.size()), as_ours("BLEU", wanted["signature"]));
    }
}

TEST(Chrf, EqualsSacrebleuOnOddCorpora) {
  for (const auto& c : cases()["cases"])
    for (const auto& wanted : c["chrf"]) {
      SCOPED_TRACE(c["name"].get<std::string>() + " " + wanted["signature"].get<std::string>());
      const auto references = c["references"].get<std::vector<Lines>>();
      const ChrfOptions options{.word_order = wanted["word_order"], .lowercase = wanted["lowercase"]};
      EXPECT_NEAR(chrf(c["hypotheses"].get<Lines>(), references, options), wanted["score"], 1e-9);
      EXPECT_EQ(chrf_name(options), wanted["name"].get<std::string>());
      EXPECT_EQ(chrf_signature(options, references.size()), as_ours(wanted["name"], wanted["signature"]));
    }
}

TEST(Tokenize13a, EqualsTheReferenceOnOddLines) {
  for (const auto& pair : cases()["tokens_13a"])
    EXPECT_EQ(tokenize_13a(pair[0].get<std::string>()), pair[1].get<std::string>()) << pair[0];
}

TEST(LowerCase, EqualsPythonsOnOddLines) {
  ASSERT_GT(cases()["lower"].size(), 10u);
  for (const auto& pair : cases()["lower"])
    EXPECT_EQ(lower_case(pair[0].get<std::string>()), pair[1].get<std::string>()) << pair[0];
}

// Results of Python's str.lower(), by the rule of The Unicode Standard, table 3-17.
TEST(LowerCase, ASigmaIsFinalWhereAWordEnds) {
  for (const auto& [upper, lower] : std::vector<std::pair<std::string, std::string>>{
           {"\u039f\u03a3", "\u03bf\u03c2"},                // ends a word
           {"\u039f\u03a3\u039f", "\u03bf\u03c3\u03bf"},    // within one
           {"\u03a3", "\u03c3"},                            // alone
           {"\u039f\u03a3'\u039f", "\u03bf\u03c3'\u03bf"},  // a mark between letters of a word
           {"\u039f\u03a3.", "\u03bf\u03c2."},              // a mark after it
           {"\u039f\u0301\u03a3", "\u03bf\u0301\u03c2"},    // after an accent of its own
           {"'\u03a3 a", "'\u03c3 a"},                      // nothing but a mark before
           {"\u039f.\u03a3\u2019 1", "\u03bf.\u03c2\u2019 1"}})
    EXPECT_EQ(lower_case(upper), lower) << upper;
}

TEST(Bleu, KnowsThePaperByHand) {
  // 1-grams 3/4, 2-grams 2/3, 3-grams 1/2, 4-grams 0/1 smoothed to 1/2; lengths equal, so no brevity penalty.
  const BleuScore s = bleu({"a b c x"}, std::vector<Lines>{{"a b c d"}});
  EXPECT_NEAR(s.score, 100 * std::pow(3.0 / 4 * 2.0 / 3 * 1.0 / 2 * 1.0 / 2, 0.25), 1e-9);
  EXPECT_EQ(s.brevity_penalty, 1);
  // Twice as long a reference: exp(1 - 8/4).
  EXPECT_NEAR(bleu({"a b c d"}, std::vector<Lines>{{"a b c d e f g h"}}).score, 100 * std::exp(-1.0), 1e-9);
  // A repeated word counts at most as often as in the reference.
  EXPECT_EQ(bleu({"the the the the"}, std::vector<Lines>{{"the cat is the"}}).matched[0], 2);
}

TEST(Evaluation, NamesBothCountsOfLines) {
  try {
    bleu({"a", "b", "c"}, std::vector<Lines>{{"a", "b", "c"}, {"a", "b"}});
    FAIL() << "unequal numbers of lines passed";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()), "evaluation: reference 2 has 2 lines, but the hypotheses have 3");
  }
  EXPECT_THROW(chrf({"a"}, std::vector<Lines>{}), Error);
  EXPECT_THROW(chrf({"a"}, std::vector<Lines>{{"a"}}, {.char_order = 0}), Error);
}

TEST(Evaluation, TakesBytesThatAreNotUtf8) {
  const Lines bad{"ab\xff\xfe c\xc3", "\xe2\x82", "\xf0\x9f\x98"};
  EXPECT_NEAR(chrf(bad, std::vector<Lines>{bad}), 100, 1e-9);
  EXPECT_EQ(bleu(bad, std::vector<Lines>{bad}, {.lowercase = true}).matched[0], 4);
}

TEST(Evaluation, EmptyCorpusScoresNothing) {
  EXPECT_EQ(bleu({}, std::vector<Lines>{{}}).score, 0);
  EXPECT_EQ(chrf({}, std::vector<Lines>{{}}), 0);
}

}  // namespace
}  // namespace tril
