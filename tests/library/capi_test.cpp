// The C interface: results, ownership, errors.
#include <gtest/gtest.h>
#include <tril/tril.h>
#include <tril/tril_c.h>

#include <cstring>
#include <memory>
#include <set>
#include <thread>

#include "support/contains.h"
#include "support/tiny_marian.h"

namespace tril {
namespace {

struct Free {
  void operator()(tril_error* p) const { tril_error_free(p); }
  void operator()(tril_options* p) const { tril_options_free(p); }
  void operator()(tril_model* p) const { tril_model_free(p); }
  void operator()(tril_stop* p) const { tril_stop_free(p); }
  void operator()(tril_results* p) const { tril_results_free(p); }
  void operator()(tril_translator* p) const { tril_translator_free(p); }
  void operator()(tril_generator* p) const { tril_generator_free(p); }
  void operator()(tril_tokenizer* p) const { tril_tokenizer_free(p); }
  void operator()(tril_ids* p) const { tril_ids_free(p); }
  void operator()(tril_scorer* p) const { tril_scorer_free(p); }
  void operator()(tril_scores* p) const { tril_scores_free(p); }
  void operator()(tril_tracer* p) const { tril_tracer_free(p); }
  void operator()(tril_traced* p) const { tril_traced_free(p); }
  void operator()(char* p) const { tril_string_free(p); }
};
template <class T>
using Owned = std::unique_ptr<T, Free>;

template <class T>
Owned<T> own(T* p) {
  return Owned<T>(p);
}

/// The error of a call that fails: "2 text 2: ...".
template <class Call>
std::string refused(const Call& call) {
  tril_error* error = nullptr;
  EXPECT_EQ(call(&error), nullptr);
  const Owned<tril_error> owned(error);
  return std::to_string(tril_error_get_kind(error)) + " " + tril_error_message(error);
}

class CInterface : public ::testing::Test {
 protected:
  static const std::string& marian() {
    static const ScratchFolder folder;
    static const std::string model = write_tiny_marian(folder);
    return model;
  }
  const std::string language_model = test::test_dir() + "/golden/lm_translation/some-chat-model";
};

TEST_F(CInterface, Translates) {
  EXPECT_STREQ(tril_version(), TRIL_VERSION);
  EXPECT_EQ(tril_abi_version(), TRIL_ABI_VERSION);
  tril_error* error = nullptr;
  auto model = own(tril_model_open(marian().c_str(), nullptr, &error));
  ASSERT_TRUE(model) << tril_error_message(error);
  EXPECT_EQ(tril_model_has_encoder(model.get()), 1);
  auto options = own(tril_options_new());
  tril_options_set(options.get(), "n-best", "2");
  tril_options_set(options.get(), "beam-size", "4");
  auto translator = own(tril_translator_new(model.get(), options.get(), &error));
  ASSERT_TRUE(translator) << tril_error_message(error);
  options.reset(), model.reset();

  const std::vector<const char*> texts{"a dog runs in the snow", "", "two men play"};
  v0::Translator expected(v0::Model::open(marian()), {{"n-best", 2}, {"beam-size", 4}});
  const auto lists = expected.translate_n_best({texts.begin(), texts.end()});
  const auto results = own(tril_translate_batch(translator.get(), texts.data(), texts.size(), nullptr, &error));
  ASSERT_TRUE(results) << tril_error_message(error);
  ASSERT_EQ(tril_results_size(results.get()), texts.size());
  for (std::size_t i = 0; i < lists.size(); ++i) {
    ASSERT_EQ(tril_results_count(results.get(), i), lists[i].size());
    for (std::size_t n = 0; n < lists[i].size(); ++n) {
      EXPECT_EQ(tril_results_text(results.get(), i, n), lists[i][n].text);
      EXPECT_EQ(tril_results_score(results.get(), i, n), lists[i][n].score);
      EXPECT_EQ(tril_results_log_prob(results.get(), i, n), lists[i][n].log_prob);
      EXPECT_EQ(static_cast<int>(tril_results_stop_reason(results.get(), i, n)),
                static_cast<int>(lists[i][n].stop_reason));
      std::size_t count = 0;
      const std::int32_t* tokens = tril_results_tokens(results.get(), i, n, &count);
      EXPECT_EQ(std::vector<std::int32_t>(tokens, tokens + count), lists[i][n].tokens);
    }
  }
  EXPECT_EQ(tril_results_text(results.get(), 9, 0), nullptr);
  EXPECT_EQ(tril_results_text(results.get(), 0, 9), nullptr);
  EXPECT_EQ(tril_results_count(results.get(), 9), 0U);
  EXPECT_STREQ(own(tril_translate(translator.get(), texts[0], &error)).get(), lists[0][0].text.c_str());
}

TEST_F(CInterface, Aligns) {
  const auto opening = own(tril_options_new());
  tril_options_set(opening.get(), "models", marian().c_str());
  const auto model = own(tril_model_open(marian().c_str(), opening.get(), nullptr));
  const auto options = own(tril_options_new());
  tril_options_set(options.get(), "alignment", "hard");
  const auto translator = own(tril_translator_new(model.get(), options.get(), nullptr));
  ASSERT_TRUE(translator);
  const char* text = "a dog runs in the snow";
  const auto results = own(tril_translate_batch(translator.get(), &text, 1, nullptr, nullptr));
  v0::Translator expected(v0::Model::open(marian(), {{"models", marian()}}), {{"alignment", "hard"}});
  const v0::Translation best = expected.translate_n_best({text})[0][0];
  std::size_t sources = 0, weights = 0, points = 0;
  const std::int32_t* const source = tril_results_source_tokens(results.get(), 0, 0, &sources);
  const float* const attention = tril_results_attention(results.get(), 0, 0, &weights);
  const tril_alignment_point* const alignment = tril_results_alignment(results.get(), 0, 0, &points);
  EXPECT_EQ(std::vector<std::int32_t>(source, source + sources), best.source_tokens);
  EXPECT_EQ(std::vector<float>(attention, attention + weights), best.attention);
  ASSERT_EQ(points, best.alignment.size());
  for (std::size_t i = 0; i < points; ++i) {
    EXPECT_EQ(alignment[i].source, best.alignment[i].source);
    EXPECT_EQ(alignment[i].target, best.alignment[i].target);
  }
  EXPECT_EQ(tril_results_alignment(results.get(), 1, 0, &points), nullptr);
  EXPECT_EQ(points, 0U);
}

TEST_F(CInterface, AlignsPairs) {
  const auto model = own(tril_model_open(marian().c_str(), nullptr, nullptr));
  const auto options = own(tril_options_new());
  tril_options_set(options.get(), "alignment", "hard");
  const auto scorer = own(tril_scorer_new(model.get(), options.get(), nullptr));
  ASSERT_TRUE(scorer);
  const char *source = "two men play", *target = "a red ball";
  const auto scores = own(tril_score(scorer.get(), &source, &target, 1, nullptr));
  const v0::Score expected =
      v0::Scorer(v0::Model::open(marian()), {{"alignment", "hard"}}).score({source}, {target})[0];
  std::size_t targets = 0, sources = 0, weights = 0, points = 0;
  const std::int32_t* const target_ids = tril_scores_target_tokens(scores.get(), 0, &targets);
  const std::int32_t* const source_ids = tril_scores_source_tokens(scores.get(), 0, &sources);
  const float* const attention = tril_scores_attention(scores.get(), 0, &weights);
  const tril_alignment_point* const alignment = tril_scores_alignment(scores.get(), 0, &points);
  EXPECT_EQ(std::vector<std::int32_t>(target_ids, target_ids + targets), expected.tokens);
  EXPECT_EQ(std::vector<std::int32_t>(source_ids, source_ids + sources), expected.source_tokens);
  EXPECT_EQ(std::vector<float>(attention, attention + weights), expected.attention);
  ASSERT_EQ(points, targets);
  for (std::size_t i = 0; i < points; ++i) {
    EXPECT_EQ(alignment[i].source, expected.alignment[i].source);
    EXPECT_EQ(alignment[i].target, expected.alignment[i].target);
  }
  EXPECT_EQ(tril_scores_alignment(scores.get(), 1, &points), nullptr);
  EXPECT_EQ(points, 0U);
}

TEST_F(CInterface, NamesTermsAndRecalledTexts) {
  const ScratchFolder folder;
  const auto model = own(tril_model_open(marian().c_str(), nullptr, nullptr));
  const char* text = "a dog and two men";
  const auto translated = [&](const char* option, const std::string& file, const char* match) {
    const auto options = own(tril_options_new());
    tril_options_set(options.get(), option, file.c_str());
    tril_options_set(options.get(), "beam-size", "4");
    if (match) tril_options_set(options.get(), "glossary-match", match);
    const auto translator = own(tril_translator_new(model.get(), options.get(), nullptr));
    return own(translator ? tril_translate_batch(translator.get(), &text, 1, nullptr, nullptr) : nullptr);
  };
  const std::string terms = folder.write("terms.tsv", "dog\tthe ball\nmen\tred\n");
  const auto results = translated("glossary", terms, "exact");
  ASSERT_TRUE(results);
  v0::Translator expected(v0::Model::open(marian()),
                          {{"glossary", terms}, {"beam-size", 4}, {"glossary-match", "exact"}});
  const v0::Translation best = expected.translate_n_best({text})[0][0];
  ASSERT_EQ(best.terms.size(), 2U);
  std::size_t count = 0, missing = 0;
  const tril_term* const found = tril_results_terms(results.get(), 0, 0, &count);
  const tril_term* const absent = tril_results_missing_terms(results.get(), 0, 0, &missing);
  ASSERT_EQ(count, 2U);
  for (std::size_t i = 0; i < count; ++i) {
    EXPECT_EQ(found[i].source, best.terms[i].source);
    EXPECT_EQ(found[i].target, best.terms[i].target);
  }
  ASSERT_EQ(missing, best.missing_terms.size());
  for (std::size_t i = 0; i < missing; ++i) EXPECT_EQ(absent[i].target, best.missing_terms[i].target);
  EXPECT_EQ(tril_results_recalled(results.get(), 0, 0), 0);
  EXPECT_EQ(tril_results_terms(results.get(), 0, 9, &count), nullptr);
  EXPECT_EQ(count, 0U);

  const auto recalled = translated("memory", folder.write("memory.tsv", std::string(text) + "\tBall\n"), nullptr);
  ASSERT_TRUE(recalled);
  EXPECT_STREQ(tril_results_text(recalled.get(), 0, 0), "Ball");
  EXPECT_EQ(tril_results_recalled(recalled.get(), 0, 0), 1);
}

TEST_F(CInterface, ReportsErrorsInsteadOfExceptions) {
  EXPECT_TRUE(contains(refused([](tril_error** e) { return tril_model_open("/no/such/model", nullptr, e); }),
                       "1 /no/such/model"));
  EXPECT_TRUE(contains(refused([](tril_error** e) { return tril_model_open(nullptr, nullptr, e); }), "2 path_or_name"));
  EXPECT_EQ(tril_model_open("/no/such/model", nullptr, nullptr), nullptr);
  const auto model = own(tril_model_open(marian().c_str(), nullptr, nullptr));
  const auto options = own(tril_options_new());
  tril_options_set(options.get(), "beam-size", "many");
  EXPECT_TRUE(contains(refused([&](tril_error** e) { return tril_translator_new(model.get(), options.get(), e); }),
                       "2 beam-size"));
  EXPECT_TRUE(contains(refused([&](tril_error** e) { return tril_generator_new(model.get(), nullptr, e); }), "2 "));
  const auto translator = own(tril_translator_new(model.get(), nullptr, nullptr));
  const std::vector<const char*> texts{"a", "b\xff", nullptr};
  EXPECT_TRUE(contains(
      refused([&](tril_error** e) { return tril_translate_batch(translator.get(), texts.data(), 2, nullptr, e); }),
      "2 text 2", "UTF-8"));
  EXPECT_TRUE(contains(
      refused([&](tril_error** e) { return tril_translate_batch(translator.get(), texts.data(), 3, nullptr, e); }),
      "2 text 3", "NULL"));
  EXPECT_TRUE(contains(refused([](tril_error** e) { return tril_translate(nullptr, "a", e); }), "2 translator"));
  for (const auto free_null : {+[] { tril_model_free(nullptr); }, +[] { tril_error_free(nullptr); },
                               +[] { tril_results_free(nullptr); }, +[] { tril_string_free(nullptr); }})
    free_null();
  tril_error* error = nullptr;
  const auto absent = own(tril_model_open("/no/such/model", nullptr, &error));
  const Owned<tril_error> owned(error);
  EXPECT_STREQ(tril_error_where(error), "/no/such/model");
  const auto back = own(tril_translate(translator.get(), "a", &error));
  EXPECT_EQ(error, nullptr);  // a success clears it
}

TEST_F(CInterface, OptionsAreNeverIgnored) {
  const auto model = own(tril_model_open(marian().c_str(), nullptr, nullptr));
  const auto refused_with = [&](std::initializer_list<std::pair<const char*, const char*>> options) {
    const auto list = own(tril_options_new());
    for (const auto& [name, value] : options) tril_options_set(list.get(), name, value);
    return refused([&](tril_error** e) { return tril_translator_new(model.get(), list.get(), e); });
  };
  EXPECT_TRUE(contains(refused_with({{"beam-size", nullptr}, {"n-best", "0"}}), "2 beam-size", "NULL"));
  EXPECT_TRUE(contains(refused_with({{nullptr, "4"}}), "2 name", "NULL"));
  EXPECT_TRUE(contains(refused_with({{"beam-size", "4"}, {"beam_size", "6"}}), "2 beam-size", "one value, got 2"));
}

struct Heard {
  std::string text;
  int ended = 0, calls = 0, stop_after = 1000;
};

int hear(void* user, size_t, int32_t, const char* text, int ended) {
  auto* heard = static_cast<Heard*>(user);
  heard->text += text;
  heard->ended += ended;
  return ++heard->calls >= heard->stop_after ? 1 : 0;
}

TEST_F(CInterface, GeneratesAndChats) {
  const auto model = own(tril_model_open(language_model.c_str(), nullptr, nullptr));
  const auto options = own(tril_options_new());
  tril_options_set(options.get(), "max-new-tokens", "12");
  tril_options_set(options.get(), "beam-size", "1");
  const auto generator = own(tril_generator_new(model.get(), options.get(), nullptr));
  const char* prompt = "a dog";
  Heard heard;
  const tril_watch watch{hear, &heard, nullptr};
  const auto results = own(tril_generate(generator.get(), &prompt, 1, &watch, nullptr));
  ASSERT_TRUE(results);
  EXPECT_EQ(heard.text, tril_results_text(results.get(), 0, 0));
  EXPECT_EQ(heard.ended, 1);
  EXPECT_EQ(
      heard.text,
      v0::Generator(v0::Model::open(language_model), {{"max-new-tokens", 12}, {"beam-size", 1}}).generate("a dog"));

  Heard few{.text = {}, .stop_after = 1};
  const tril_watch stopping{hear, &few, nullptr};
  const auto stopped = own(tril_generate(generator.get(), &prompt, 1, &stopping, nullptr));
  EXPECT_EQ(tril_results_stop_reason(stopped.get(), 0, 0), TRIL_CANCELLED);
  const auto stop = own(tril_stop_new());
  tril_stop_request(stop.get());
  const tril_watch from_outside{nullptr, nullptr, stop.get()};
  const auto none = own(tril_generate(generator.get(), &prompt, 1, &from_outside, nullptr));
  EXPECT_EQ(tril_results_stop_reason(none.get(), 0, 0), TRIL_CANCELLED);

  const tril_message message{"user", "hello"};
  const auto answer = own(tril_chat(generator.get(), &message, 1, nullptr, nullptr));
  ASSERT_TRUE(answer);
  EXPECT_EQ(tril_results_count(answer.get(), 0), 1U);
}

TEST_F(CInterface, TokenisesAndScores) {
  const auto tokenizer = own(tril_tokenizer_open(marian().c_str(), nullptr, nullptr));
  const auto ids = own(tril_encode(tokenizer.get(), "the old dog", TRIL_TARGET_SIDE, nullptr));
  ASSERT_GT(tril_ids_size(ids.get()), 0U);
  EXPECT_STREQ(
      own(tril_decode(tokenizer.get(), tril_ids_data(ids.get()), tril_ids_size(ids.get()), TRIL_TARGET_SIDE, nullptr))
          .get(),
      "the old dog");
  const auto framed = own(tril_encode(tokenizer.get(), "the old dog", TRIL_SPECIAL_TOKENS, nullptr));
  EXPECT_EQ(tril_ids_size(framed.get()), tril_ids_size(ids.get()) + 1);
  EXPECT_TRUE(contains(refused([&](tril_error** e) { return tril_encode(tokenizer.get(), "a", 8, e); }), "2 flags"));
  const std::int32_t outside = 1'000'000;
  EXPECT_TRUE(
      contains(refused([&](tril_error** e) { return tril_decode(tokenizer.get(), &outside, 1, 0, e); }), "2 ids"));

  const auto model = own(tril_model_open(marian().c_str(), nullptr, nullptr));
  const auto scorer = own(tril_scorer_new(model.get(), nullptr, nullptr));
  const char *source = "two men play", *target = "a red ball";
  const auto scores = own(tril_score(scorer.get(), &source, &target, 1, nullptr));
  std::size_t count = 0;
  const float* each = tril_scores_tokens(scores.get(), 0, &count);
  ASSERT_GT(count, 1U);
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += each[i];
  EXPECT_NEAR(tril_scores_log_prob(scores.get(), 0), sum, 1e-4);  // float32 terms

  const auto opening = own(tril_options_new());
  tril_options_set(opening.get(), "draft-model", marian().c_str());
  const auto drafted = own(tril_model_open(marian().c_str(), opening.get(), nullptr));
  ASSERT_TRUE(drafted);
  EXPECT_TRUE(contains(refused([&](tril_error** e) { return tril_scorer_new(drafted.get(), nullptr, e); }),
                       "2 draft_model", "scores"));
}

// Values, shapes and types are those of the C++ interface; errors and requests to stop are errors here too.
TEST_F(CInterface, Traces) {
  for (const auto& [path, target] :
       {std::pair(marian(), "two men"), {language_model, static_cast<const char*>(nullptr)}}) {
    SCOPED_TRACE(path);
    auto model = own(tril_model_open(path.c_str(), nullptr, nullptr));
    const auto tracer = own(tril_tracer_new(model.get(), nullptr, nullptr));
    ASSERT_TRUE(tracer);
    model.reset();
    const auto traced = own(tril_trace(tracer.get(), "a dog runs", target, nullptr, nullptr));
    ASSERT_TRUE(traced);
    const v0::Trace expected = v0::Tracer(v0::Model::open(path)).trace("a dog runs", target ? target : "");
    ASSERT_EQ(tril_traced_size(traced.get()), expected.values().size());
    std::set<int> types;
    for (std::size_t i = 0; i < expected.values().size(); ++i) {
      const v0::TracedValue& value = expected.values()[i];
      EXPECT_EQ(tril_traced_name(traced.get(), i), value.name);
      EXPECT_EQ(tril_traced_find(traced.get(), value.name.c_str()), i);
      std::size_t rank = 0;
      const std::int64_t* const shape = tril_traced_shape(traced.get(), i, &rank);
      EXPECT_EQ(std::vector<std::int64_t>(shape, shape + rank), value.shape);
      const void* const data = tril_traced_data(traced.get(), i);
      const int type = tril_traced_type(traced.get(), i);
      types.insert(type);
      if (type == TRIL_FLOAT32) {
        EXPECT_EQ(std::memcmp(data, value.floats.data(), value.floats.size_bytes()), 0);
      } else if (type == TRIL_INT32) {
        EXPECT_EQ(std::memcmp(data, value.ids.data(), value.ids.size_bytes()), 0);
      } else {
        EXPECT_EQ(std::memcmp(data, value.mask.data(), value.mask.size_bytes()), 0);
      }
      EXPECT_EQ(value.floats.empty(), type != TRIL_FLOAT32);
      EXPECT_EQ(value.ids.empty(), type != TRIL_INT32);
    }
    EXPECT_EQ(types, (std::set<int>{TRIL_FLOAT32, TRIL_INT32, TRIL_UINT8}));
    const std::size_t size = tril_traced_size(traced.get());
    EXPECT_EQ(tril_traced_find(traced.get(), "nothing"), size);
    EXPECT_EQ(tril_traced_name(traced.get(), size), nullptr);
    EXPECT_EQ(tril_traced_data(traced.get(), size), nullptr);
    EXPECT_EQ(tril_traced_type(traced.get(), size), TRIL_NO_VALUE);
    std::size_t rank = 9;
    EXPECT_EQ(tril_traced_shape(traced.get(), size, &rank), nullptr);
    EXPECT_EQ(rank, 0U);

    EXPECT_TRUE(
        contains(refused([&](tril_error** e) { return tril_trace(tracer.get(), nullptr, nullptr, nullptr, e); }),
                 "2 text", "NULL"));
    const auto stop = own(tril_stop_new());
    tril_stop_request(stop.get());
    EXPECT_TRUE(contains(
        refused([&](tril_error** e) { return tril_trace(tracer.get(), "a dog", nullptr, stop.get(), e); }), "1 trace"));
  }
  const auto model = own(tril_model_open(language_model.c_str(), nullptr, nullptr));
  const auto options = own(tril_options_new());
  tril_options_set(options.get(), "only", "decoder.0.self.q");
  tril_options_set(options.get(), "only", "*.weights");
  tril_options_set(options.get(), "edit", "*.scores=uniform");
  const auto tracer = own(tril_tracer_new(model.get(), options.get(), nullptr));
  const auto traced = own(tril_trace(tracer.get(), "a dog", nullptr, nullptr, nullptr));
  ASSERT_TRUE(traced);
  EXPECT_STREQ(tril_traced_name(traced.get(), 0), "decoder.0.self.q");
  const std::size_t at = tril_traced_find(traced.get(), "decoder.0.self.weights");
  ASSERT_LT(at, tril_traced_size(traced.get()));
  EXPECT_EQ(static_cast<const float*>(tril_traced_data(traced.get(), at))[0], 1.0f)
      << "the first token sees itself alone";
  tril_options_set(options.get(), "only", "decoder.9.self.q");
  const auto wrong = own(tril_tracer_new(model.get(), options.get(), nullptr));
  EXPECT_TRUE(contains(refused([&](tril_error** e) { return tril_trace(wrong.get(), "a", nullptr, nullptr, e); }),
                       "2 decoder.9.self.q"));
  EXPECT_TRUE(contains(refused([&](tril_error** e) { return tril_tracer_new(nullptr, nullptr, e); }), "2 model"));
  tril_traced_free(nullptr), tril_tracer_free(nullptr);
}

}  // namespace
}  // namespace tril
