// Models as CTranslate2's converters write them: probabilities, beams and greedy texts as CTranslate2 computes them in float32, in any
// batch, whatever the type of the weights.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "decode/batches/parallel.h"
#include "decode/batches/score.h"
#include "decode/batches/session.h"
#include "decode/texts/text_score.h"
#include "model_io/contents/generation_config.h"
#include "model_io/source/model_source.h"
#include "model_io/source/registry.h"
#include "support/paths.h"

namespace tril::search {
namespace {

namespace fs = std::filesystem;
using Ids = std::vector<std::int32_t>;

// The largest difference of the cases here is 2e-5.
constexpr double tolerance = 1e-4;

struct Ctranslate2Case {
  explicit Ctranslate2Case(const fs::path& directory) {
    expected = nlohmann::json::parse(std::ifstream(directory / "expected.json"));
    const auto source = model::ModelSource::open(directory);
    model = model::load(source);
    published = source.generation();
    length = expected.at("length").get<std::int32_t>();
  }

  std::vector<Ids> ids(const char* key) const { return expected.at(key).get<std::vector<Ids>>(); }
  SearchPlan plan(std::int32_t beam_size) const {
    SearchPlan plan;
    plan.beam_size = beam_size;
    plan.eos_ids = published.eos_token_ids;
    plan.bad_words = published.bad_words_ids;
    plan.early_stopping = EarlyStopping::yes;  // CTranslate2 stops at as many translations as beams
    return plan;
  }

  std::unique_ptr<model::Model> model;
  model::GenerationConfig published;
  nlohmann::json expected;
  std::int32_t length = 0;
  Arena arena;
  Context c{arena};
};

void for_each_case(const char* key, const std::function<void(Ctranslate2Case&)>& test) {
  std::size_t tested = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(test::test_dir()) / "golden/ctranslate2")) {
    SCOPED_TRACE(entry.path().filename().string());
    if (!fs::exists(entry.path() / "expected.json")) continue;
    Ctranslate2Case one(entry.path());
    if (!one.expected.contains(key)) continue;
    test(one);
    ++tested;
  }
  EXPECT_GT(tested, 5u);
}

void expect_log_probs(const std::vector<Score>& found, const nlohmann::json& expected) {
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto wanted = expected[i].get<std::vector<double>>();
    ASSERT_EQ(found[i].token_log_probs.size(), wanted.size());
    for (std::size_t t = 0; t < wanted.size(); ++t)
      EXPECT_NEAR(found[i].token_log_probs[t], wanted[t], tolerance) << "text " << i << ", token " << t;
  }
}

TEST(GoldenCtranslate2, TranslationsHaveItsProbabilities) {
  for_each_case("targets", [](Ctranslate2Case& m) {
    const std::vector<Ids> sources = m.ids("sources");
    std::vector<Ids> targets = m.ids("targets");
    for (Ids& target : targets) target.push_back(m.published.eos_token_ids.at(0));
    const auto found =
        score(m.c, *m.model, {sources, targets}, {.start_id = m.published.decoder_start_token_id.value()});
    expect_log_probs(found, m.expected["log_probs"]);
  });
}

TEST(GoldenCtranslate2, BeamsAreItsBeamsInAnyBatch) {
  for_each_case("best", [](Ctranslate2Case& m) {
    const std::vector<Ids> best = m.ids("best"), sources = m.ids("sources");
    const std::vector<Request> requests(sources.size(), {m.published.decoder_start_token_id.value(), 0, m.length});
    for (const std::int32_t batch_size : {1, 3, 64}) {
      ParallelDecoder decoder(*m.model, {.search = m.plan(4), .batch_size = batch_size, .threads = 2});
      const auto found = decoder.decode(sources, requests);
      for (std::size_t i = 0; i < best.size(); ++i) {
        EXPECT_EQ(found[i].at(0).tokens, best[i]) << i;
        EXPECT_NEAR(found[i][0].score, m.expected["scores"][i].get<double>(), tolerance) << i;
      }
    }
  });
}

TEST(GoldenCtranslate2, TextsHaveItsProbabilities) {
  for_each_case("texts", [](Ctranslate2Case& m) {
    WorkerPool workers(2);
    const auto found = score_texts(workers, *m.model, m.ids("texts"), {});
    expect_log_probs(found, m.expected["log_probs"]);
  });
}

TEST(GoldenCtranslate2, GreedyTextsAreItsOwn) {
  for_each_case("greedy", [](Ctranslate2Case& m) {
    const std::vector<Ids> greedy = m.ids("greedy");
    std::vector<Request> requests;
    for (const Ids& text : m.ids("texts"))
      requests.push_back(
          {.start_id = text[0], .min_length = 0, .max_length = m.length, .prefix = {text.begin() + 1, text.end()}});
    Session session(m.c, *m.model);
    const auto found = session.decode({}, requests, m.plan(1));
    for (std::size_t i = 0; i < greedy.size(); ++i) {
      Ids tokens = found[i].at(0).tokens;
      if (!tokens.empty() && tokens.back() == m.published.eos_token_ids.at(0)) tokens.pop_back();
      EXPECT_EQ(tokens, greedy[i]) << i;
    }
  });
}

}  // namespace
}  // namespace tril::search
