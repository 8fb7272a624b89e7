// Language tokens of translation models: the frames of BART, mBART, M2M100 and NLLB.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "decode/texts/translator.h"
#include "support/paths.h"
#include "support/small_marian.h"
#include "support/temporary.h"
#include "tokenizer/files/language_tag.h"
#include "tokenizer/files/sentence_frame.h"

namespace tril::search {
namespace {

using Ids = std::vector<std::int32_t>;

class LanguageTokens : public ::testing::Test {
 protected:
  // A directory with this tokenizer class, and a model of its vocabulary.
  void load(const nlohmann::json& config, const std::string& first_language = "") {
    const TemporaryDirectory directory;
    directory.write("sentencepiece.bpe.model",
                    read_text(test::test_dir() + "/golden/hf/tokenizers/spm_unigram/spm.model", std::size_t{1} << 28));
    directory.write("tokenizer_config.json", config.dump());
    tokenizer = load_tokenizer(directory.path());
    model::MarianConfig k = tril::testing::small_marian_config();
    k.vocab_size = k.decoder_vocab_size = tokenizer->size(Side::source);
    k.pad_token_id = tokenizer->special(Side::source).pad, k.eos_token_id = 2;
    k.decoder_start_token_id = first_language.empty() ? 2 : tokenizer->language_id(first_language);
    model = tril::testing::small_marian(k);
  }
  TextToTranslate prepared(const TextOptions& options, const std::string& prefix = "", std::int32_t forced_bos = -1) {
    SearchPlan search;
    search.forced_bos_id = forced_bos;
    return EncodedText(*model, tokenizer).prepare({.text = "Hello there", .prefix = prefix}, 0, options, search);
  }
  Ids text(const std::string& of = "Hello there") const { return tokenizer->encode(of, Side::source); }
  std::int32_t language(const char* code) const { return tokenizer->language_id(code); }
  static Ids joined(Ids a, const Ids& b, const Ids& c = {}) {
    a.insert(a.end(), b.begin(), b.end());
    a.insert(a.end(), c.begin(), c.end());
    return a;
  }

  std::shared_ptr<const Tokenizer> tokenizer;
  std::unique_ptr<model::Marian> model;
};

TEST_F(LanguageTokens, InFrontOfSourceAndTranslation) {
  load({{"tokenizer_class", "NllbTokenizer"}});
  EXPECT_EQ(prepared({}).source, joined({language("eng_Latn")}, text(), {2}));
  EXPECT_TRUE(prepared({}).request.prefix.empty());
  const TextOptions o{.source_language = "fra_Latn", .target_language = "deu_Latn"};
  EXPECT_EQ(prepared(o).source, joined({language("fra_Latn")}, text(), {2}));
  EXPECT_EQ(prepared(o).request.start_id, 2);
  EXPECT_TRUE(prepared(o).request.prefix.empty());
  EXPECT_EQ(prepared(o).request.forced_first, language("deu_Latn"));
  EXPECT_EQ(prepared({}).request.forced_first, -1);
  // Replaces the directory's, and precedes a prefix, if given.
  EXPECT_EQ(prepared(o, "Guten").request.forced_first, -1);
  EXPECT_EQ(prepared(o, "Guten", language("ace_Arab")).request.prefix, joined({language("deu_Latn")}, text("Guten")));
  EXPECT_EQ(prepared({}, "Guten", language("ace_Arab")).request.prefix, joined({language("ace_Arab")}, text("Guten")));
  EXPECT_EQ(sentence_ids(*tokenizer, "Hello there", Side::target, "deu_Latn"),
            joined({language("deu_Latn")}, text(), {2}));
}

TEST_F(LanguageTokens, BehindTheSourceAndAsTheDecodersStart) {
  load({{"tokenizer_class", "MBartTokenizer"}}, "ro_RO");
  const TextOptions o{.source_language = "de_DE", .target_language = "fr_XX"};
  EXPECT_EQ(prepared({}).request.start_id, language("ro_RO"));
  EXPECT_EQ(prepared(o).source, joined(text(), {2, language("de_DE")}));
  EXPECT_EQ(prepared(o).request.start_id, language("fr_XX"));
  EXPECT_TRUE(prepared(o).request.prefix.empty());
  EXPECT_EQ(prepared(o).request.forced_first, -1);
  EXPECT_EQ(decoder_start(*model, *tokenizer, "fr_XX"), language("fr_XX"));
  EXPECT_EQ(decoder_start(*model, *tokenizer, ""), language("ro_RO"));
  EXPECT_EQ(sentence_ids(*tokenizer, "Hello there", Side::target, "fr_XX"), joined(text(), {2}));
}

TEST_F(LanguageTokens, AreCutLastAndABlankTextIsBlank) {
  load({{"tokenizer_class", "MBartTokenizer"}}, "ro_RO");
  bool cut = false;
  const Ids source = source_ids(*tokenizer, "Hello there", 4, cut, "de_DE");
  EXPECT_TRUE(cut);
  EXPECT_EQ(source, joined({text()[0], text()[1]}, {2, language("de_DE")}));
  EXPECT_EQ(source_ids(*tokenizer, "Hello there", 100, cut).size(), text().size() + 2);
  EXPECT_FALSE(cut);
  const TextToTranslate blank = EncodedText(*model, tokenizer).prepare({.text = ""}, 0, {}, {});
  EXPECT_TRUE(blank.is_empty());
  EXPECT_FALSE(prepared({}).is_empty());
}

// A language from the request or from the directory gives the same translation.
TEST_F(LanguageTokens, ARequestsIsAsADirectorys) {
  load({{"tokenizer_class", "NllbTokenizer"}});
  const std::vector<std::string> texts{"Hello there", "", "A man sees the red house."};
  const auto translated = [&](bool by_directory, const SearchPlan& search) {
    TranslatorOptions o;
    o.min_length = 3, o.max_length = 9, o.max_length_factor = 0;
    o.decoding.search = search;
    o.decoding.search.eos_ids = {2};
    if (by_directory)
      o.decoding.search.forced_bos_id = language("deu_Latn");
    else
      o.target_language = "deu_Latn";
    return Translator(*model, tokenizer, o).translate(texts);
  };
  std::vector<SearchPlan> all;
  for (const double penalty : {1.0, -1.0, 0.0, 2.5})
    for (const EarlyStopping early : {EarlyStopping::no, EarlyStopping::yes, EarlyStopping::never})
      all.push_back({.beam_size = 3, .n_best = 3, .length_penalty = penalty, .early_stopping = early});
  all.push_back({.scores = true});
  all.push_back({.n_best = 3, .sampling = {.on = true, .seed = 5}, .scores = true});
  all.push_back({.beam_size = 2, .n_best = 3, .alternatives = true});
  all.push_back({.beam_size = 2, .attention = nn::AttentionHeads{}});
  all.push_back({.begin_suppress_ids = {5, 6, 7}, .no_repeat_ngram = 2});
  for (std::size_t i = 0; i < all.size(); ++i) {
    SCOPED_TRACE(i);
    const auto request = translated(false, all[i]), directory = translated(true, all[i]);
    ASSERT_EQ(request.size(), texts.size());
    for (std::size_t t = 0; t < texts.size(); ++t) {
      ASSERT_EQ(request[t].size(), directory[t].size());
      for (std::size_t n = 0; n < request[t].size(); ++n) {
        const Translation &a = request[t][n], &b = directory[t][n];
        EXPECT_EQ(a.tokens, b.tokens);
        EXPECT_EQ(a.text, b.text);
        EXPECT_EQ(a.score, b.score);
        EXPECT_EQ(a.log_prob, b.log_prob);
        EXPECT_EQ(a.at_length, b.at_length);
        EXPECT_EQ(a.attention, b.attention);
        if (t == 1) continue;
        ASSERT_FALSE(a.tokens.empty());
        EXPECT_EQ(a.tokens[0], language("deu_Latn")) << "it is generated";
        if (all[i].beam_size > 1 && !all[i].alternatives) {
          EXPECT_NEAR(a.score, a.log_prob / std::pow(a.tokens.size(), all[i].length_penalty), 1e-9) << "it counts";
        }
      }
    }
  }
}

// No n-gram of the source is generated if none may be: for greedy search, a beam and samples.
TEST_F(LanguageTokens, SayNothingOfTheSourceWhereTheyMayNot) {
  load({{"tokenizer_class", "NllbTokenizer"}});
  const std::vector<std::string> texts{"A man sees the red house and the red door and the man."};
  const std::vector<std::int32_t> source = tokenizer->encode(texts[0], Side::source);
  std::size_t found_if_allowed = 0;
  for (SearchPlan search : {SearchPlan{}, SearchPlan{.beam_size = 3}, SearchPlan{.sampling = {.on = true, .seed = 3}}})
    for (const std::int32_t n : {0, 1}) {
      search.eos_ids = {2}, search.encoder_no_repeat_ngram = n;
      TranslatorOptions o;
      o.max_length = 60, o.max_length_factor = 0;
      o.decoding.search = search;
      o.target_language = "deu_Latn";
      const auto found = Translator(*model, tokenizer, o).translate(texts);
      for (const std::int32_t id : found[0][0].tokens) {
        const bool of_source = std::find(source.begin(), source.end(), id) != source.end();
        if (n == 0)
          found_if_allowed += of_source;
        else
          EXPECT_FALSE(of_source) << id;
      }
    }
  EXPECT_GT(found_if_allowed, 0u) << "the test shows nothing";
}

// Alternatives differ in the token after the language token, which is fixed.
TEST_F(LanguageTokens, AlternativesBranchBehindThem) {
  load({{"tokenizer_class", "NllbTokenizer"}});
  TranslatorOptions o;
  o.max_length = 6;
  o.decoding.search = {.beam_size = 2, .n_best = 4, .alternatives = true, .eos_ids = {2}};
  o.target_language = "deu_Latn";
  const std::vector<std::string> texts{"Hello there"};
  const auto found = Translator(*model, tokenizer, o).translate(texts)[0];
  ASSERT_EQ(found.size(), 4u);
  std::vector<std::int32_t> second;
  for (const Translation& t : found) {
    ASSERT_GT(t.tokens.size(), 1u);
    EXPECT_EQ(t.tokens[0], language("deu_Latn"));
    second.push_back(t.tokens[1]);
  }
  std::sort(second.begin(), second.end());
  EXPECT_EQ(std::unique(second.begin(), second.end()), second.end());
}

// In transformers, max_length counts all of the decoder's tokens, and max_new_tokens all after the start token. Both
// include a language token, whether the request or the model sets it.
TEST_F(LanguageTokens, LengthsCountThemAsTheyAreAskedTo) {
  load({{"tokenizer_class", "NllbTokenizer"}});
  const std::string prefix = "Guten Tag";
  const auto beginning = static_cast<std::int32_t>(tokenizer->encode(prefix, Side::target).size());
  const auto lengths = [&](Counted counted, const char* language, const std::string& begun, std::int32_t forced = -1) {
    const TextOptions o{.min_length = 7,
                        .max_length = 20,
                        .min_counts = counted,
                        .max_counts = counted,
                        .max_length_factor = 0,
                        .target_language = language};
    const Request r = prepared(o, begun, forced).request;
    return std::pair(r.min_length, r.max_length);
  };
  using Pair = std::pair<std::int32_t, std::int32_t>;
  // A forced token is generated, and counts as such.
  for (const Counted counted : {Counted::output, Counted::first, Counted::all})
    EXPECT_EQ(lengths(counted, "deu_Latn", ""), Pair(7, 20));
  EXPECT_EQ(lengths(Counted::first, "", "", language("ace_Arab")), Pair(7, 20));
  EXPECT_EQ(lengths(Counted::all, "", "", language("ace_Arab")), Pair(7, 20));
  // Before a prefix it is part of the given tokens.
  EXPECT_EQ(lengths(Counted::output, "", prefix, language("ace_Arab")), Pair(7, 20));
  EXPECT_EQ(lengths(Counted::first, "", prefix, language("ace_Arab")), Pair(6, 19));
  EXPECT_EQ(lengths(Counted::all, "", prefix, language("ace_Arab")), Pair(std::max(0, 6 - beginning), 19 - beginning));
  EXPECT_EQ(lengths(Counted::output, "deu_Latn", prefix), Pair(7, 20));
  EXPECT_EQ(lengths(Counted::first, "deu_Latn", prefix), Pair(6, 19));
  EXPECT_EQ(lengths(Counted::all, "", prefix), Pair(std::max(0, 7 - beginning), 20 - beginning));
  EXPECT_EQ(lengths(Counted::first, "", prefix), Pair(7, 20));
}

TEST_F(LanguageTokens, TheFirstMBartHasThemInItsStart) {
  load({{"tokenizer_class", "MBartTokenizer"}}, "ro_RO");
  const TextOptions o{.max_length = 20, .max_counts = Counted::all, .max_length_factor = 0, .target_language = "fr_XX"};
  EXPECT_EQ(prepared(o).request.max_length, 20);
}

TEST_F(LanguageTokens, WhatTheFactorCutsIsTold) {
  load({{"tokenizer_class", "NllbTokenizer"}});
  constexpr std::int32_t end = 2, other_end = 7;
  const auto finished = [&](const TextOptions& o, std::int32_t tokens, std::int32_t last,
                            std::int32_t forced_eos = -1) {
    SearchPlan search;
    search.forced_eos_id = forced_eos;
    const EncodedText text(*model, tokenizer);
    const TextToTranslate t = text.prepare({.text = "Hello there"}, 0, o, search);
    Hypothesis h;
    h.tokens.assign(static_cast<std::size_t>(std::min(tokens, t.request.max_length)), 5);
    h.tokens.back() = last;
    h.stop_reason = last == end || last == other_end ? StopReason::end_token : StopReason::length;
    const std::vector<Hypothesis> all{h};
    const Translation found = text.finish(t, all, o)[0];
    return std::pair(found.at_length, found.cut_by_factor);
  };
  using Pair = std::pair<bool, bool>;
  const TextOptions by_factor{.max_length = 400, .max_length_factor = 0.5}, by_length{.max_length = 9};
  EXPECT_EQ(finished(by_factor, 1000, 5), Pair(true, true));
  EXPECT_EQ(finished(by_factor, 1000, end), Pair(false, false)) << "it ends by itself";
  EXPECT_EQ(finished(by_factor, 1000, other_end), Pair(false, false))
      << "likewise: a model may have several end tokens";
  EXPECT_EQ(finished(by_factor, 1000, end, end), Pair(true, true)) << "it is made to end";
  EXPECT_EQ(finished(by_factor, 3, 5), Pair(false, false));
  EXPECT_EQ(finished(by_length, 1000, 5), Pair(true, false));
}

TEST_F(LanguageTokens, AreNamedAsPeopleNameThem) {
  load({{"tokenizer_class", "NllbTokenizer"}});
  for (const char* name : {"deu_Latn", ">>deu_Latn<<", "__deu_Latn__", "de", "ger", "de-AT"}) {
    const Languages l = choose_languages(*tokenizer, name, name, "--source-language", "--target-language");
    EXPECT_EQ(l.source, "deu_Latn");
    EXPECT_EQ(l.target, "deu_Latn");
    EXPECT_EQ(l.prefix, "");
  }
  try {
    choose_languages(*tokenizer, "", "deu_Latin", "--source-language", "--target-language");
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("--target-language"), std::string::npos) << e.what();
    EXPECT_NE(e.hint().find("deu_Latn"), std::string::npos) << e.hint();
  }
}

TEST(SentenceEnd, WhereNoFileNamesItTheFileAndTheRemedyAreNamed) {
  const TemporaryDirectory directory;
  directory.write("tokenizer.json", read_text(test::test_dir() + "/golden/hf/tokenizers/unigram_t5/tokenizer.json",
                                              std::size_t{1} << 28));
  model::MarianConfig k = tril::testing::small_marian_config();
  k.vocab_size = k.decoder_vocab_size = load_tokenizer(directory.path())->size(Side::source);
  k.pad_token_id = 0, k.eos_token_id = 1, k.decoder_start_token_id = 0;
  const auto model = tril::testing::small_marian(k);
  const auto error = [&] { return error_of([&] { check_tokenizer(*model, *load_tokenizer(directory.path())); }); };
  EXPECT_TRUE(contains(error(), directory.path("tokenizer.json") + ": ")) << error();
  EXPECT_TRUE(contains(error(), "tokenizer_config.json") && contains(error(), "eos_token")) << error();
  directory.write("config.json", R"({"eos_token_id": 1})");
  EXPECT_EQ(error(), "");
}

}  // namespace
}  // namespace tril::search
