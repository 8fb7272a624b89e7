// Translation by published encoder-decoder families: greedy and beam search, equal to `transformers` token for token
// and score for score; and ways of decoding that must not affect the result.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <utility>

#include "decode/batches/parallel.h"
#include "decode/batches/score.h"
#include "format/safetensors.h"
#include "model_io/contents/generation_config.h"
#include "model_io/source/model_source.h"
#include "model_io/source/registry.h"
#include "support/golden.h"
#include "support/rounds.h"

namespace tril::search {
namespace {

using Ids = std::vector<std::int32_t>;

struct Reference {
  explicit Reference(const std::filesystem::path& dir) {
    model = model::load(model::ModelSource::open(dir));
    published = model::ModelSource::open(dir.string()).generation();
    const SafetensorsFile file = SafetensorsFile::open((dir / "expected.safetensors").string());
    const Ids ids = to_i32(file.at("input_ids")), mask = to_i32(file.at("attention_mask"));
    const auto B = static_cast<std::size_t>(file.at("input_ids").shape[0]);
    const std::size_t T = ids.size() / B;
    for (std::size_t b = 0; b < B; ++b) {
      sources.emplace_back();
      for (std::size_t t = 0; t < T; ++t)
        if (mask[b * T + t]) sources.back().push_back(ids[b * T + t]);
    }
    greedy = rows(file, "greedy");
    beam = rows(file, "beam");
    beam_scores = to_f32(file.at("beam_scores"));
    arguments = nlohmann::json::parse(*file.find_metadata("beam"));
    const auto greedy_arguments = nlohmann::json::parse(*file.find_metadata("greedy"));
    greedy_length = greedy_arguments.at("max_new_tokens").get<std::int32_t>();
  }

  // The generated tokens of each row: without the start token, up to the first EOS.
  std::vector<Ids> rows(const SafetensorsFile& file, const std::string& name) const {
    const WeightView& view = file.at(name);
    const auto width = static_cast<std::ptrdiff_t>(view.shape.back());
    const Ids all = to_i32(view);
    std::vector<Ids> list;
    for (auto row = all.begin(); row != all.end(); row += width) {
      auto end = std::find(row + 1, row + width, published.eos_token_ids.at(0));
      if (end != row + width) ++end;
      list.emplace_back(row + 1, end);
    }
    return list;
  }

  SearchPlan options(std::int32_t beam_size) const {
    SearchPlan o;
    o.beam_size = beam_size;
    o.n_best = beam_size;
    o.eos_ids = published.eos_token_ids;
    o.bad_words = published.bad_words_ids;
    o.forced_bos_id = published.forced_bos_token_id.value_or(-1);
    o.forced_eos_id = published.forced_eos_token_id.value_or(-1);
    if (beam_size > 1) {
      o.length_penalty = arguments.at("length_penalty").get<double>();
      o.early_stopping = arguments.at("early_stopping") == true ? EarlyStopping::yes : EarlyStopping::no;
    }
    return o;
  }
  std::vector<Request> requests(std::size_t n, std::int32_t max_length) const {
    return std::vector<Request>(n, {model->special_ids().decoder_start, 0, max_length});
  }

  std::unique_ptr<model::Model> model;
  model::GenerationConfig published;
  nlohmann::json arguments;
  std::vector<Ids> sources, greedy, beam;
  std::vector<float> beam_scores;
  std::int32_t greedy_length = 0;
  Arena arena;
  Context c{arena};
};

// A loop instead of test parameters: the cases of another directory are not known when tests are listed.
void for_each_model(const std::function<void(Reference&)>& test) {
  const auto directories = test::golden_model_directories("encoder-decoder");
  if (directories.empty() && test::other_golden_directory()) GTEST_SKIP() << "no model in " << test::golden_directory();
  ASSERT_FALSE(directories.empty()) << "no model in " << test::golden_directory();
  for (const auto& dir : directories) {
    SCOPED_TRACE(dir.string());
    Reference m(dir);
    test(m);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TEST(GoldenEncoderDecoder, GreedyIsThatOfTransformers) {
  for_each_model([](Reference& m) {
    for (bool use_cache : {true, false}) {
      Session session(m.c, *m.model, {.cache = {.use = use_cache}});
      const auto found = session.decode(m.sources, m.requests(m.sources.size(), m.greedy_length), m.options(1));
      ASSERT_EQ(found.size(), m.greedy.size());
      for (std::size_t i = 0; i < found.size(); ++i)
        EXPECT_EQ(found[i][0].tokens, m.greedy[i]) << i << ", cache " << use_cache;
    }
  });
}

TEST(GoldenEncoderDecoder, BeamSearchIsThatOfTransformers) {
  for_each_model([](Reference& m) {
    const std::int32_t width = m.arguments.at("num_beams").get<std::int32_t>();
    const auto length = m.arguments.at("max_new_tokens").get<std::int32_t>();
    for (bool use_cache : {true, false}) {
      Session session(m.c, *m.model, {.cache = {.use = use_cache}});
      const auto found = session.decode(m.sources, m.requests(m.sources.size(), length), m.options(width));
      ASSERT_EQ(found.size() * static_cast<std::size_t>(width), m.beam.size());
      for (std::size_t i = 0; i < m.beam.size(); ++i) {
        const Hypothesis& h = found[i / static_cast<std::size_t>(width)].at(i % static_cast<std::size_t>(width));
        EXPECT_EQ(h.tokens, m.beam[i]) << i << ", cache " << use_cache;
        EXPECT_NEAR(h.score, static_cast<double>(m.beam_scores[i]), 1e-4) << i << ", cache " << use_cache;
      }
      if (use_cache) {
        EXPECT_EQ(session.cache()->rows(), 0);
        EXPECT_EQ(session.cache()->used_slots(), 0) << "slots that did not come back";
      }
    }
  });
}

// Sentences in any batch, with any number of workers, give the same hypotheses.
TEST(GoldenEncoderDecoder, BatchesAndWorkersDoNotMatter) {
  for_each_model([](Reference& m) {
    std::vector<Ids> many;
    for (std::size_t i = 0; i < test::round_count(50); ++i) {
      Ids source = m.sources[i % m.sources.size()];
      source.erase(source.begin(), source.begin() + static_cast<std::ptrdiff_t>(i % (source.size() - 1)));
      many.push_back(source);
    }
    for (std::int32_t width : {1, 4}) {
      std::vector<std::vector<Hypothesis>> alone;
      SearchPlan o = m.options(width);
      o.scores = true;
      Session session(m.c, *m.model);
      for (const Ids& source : many) alone.push_back(session.decode(std::span(&source, 1), m.requests(1, 20), o)[0]);
      // Workers share nothing but the list of jobs: each size of a batch need not meet each number of workers.
      for (const auto& [threads, batch_size] : {std::pair(1, 64), {3, 1}, {3, 7}}) {
        ParallelDecoder decoder(*m.model, {.search = o, .batch_size = batch_size, .threads = threads});
        const auto found = decoder.decode(many, m.requests(many.size(), 20));
        ASSERT_EQ(found.size(), many.size());
        for (std::size_t i = 0; i < many.size(); ++i)
          for (std::size_t n = 0; n < std::max(alone[i].size(), found[i].size()); ++n) {
            EXPECT_EQ(found[i].at(n).tokens, alone[i][n].tokens) << "sentence " << i << ", batches of " << batch_size;
            EXPECT_NEAR(found[i][n].score, alone[i][n].score, 1e-5);
          }
      }
    }
  });
}

// If nothing is forbidden or forced, a search's score equals that of scoring its output.
TEST(GoldenEncoderDecoder, ScoringAgreesWithSearching) {
  for_each_model([](Reference& m) {
    SearchPlan o = m.options(4);
    o.bad_words.clear();
    o.forced_bos_id = o.forced_eos_id = -1;
    Session session(m.c, *m.model);
    const auto found = session.decode(m.sources, m.requests(m.sources.size(), 15), o);
    std::vector<Ids> from, targets;
    std::vector<double> sums;
    for (std::size_t i = 0; i < found.size(); ++i)
      for (const Hypothesis& h : found[i])
        from.push_back(m.sources[i]), targets.push_back(h.tokens), sums.push_back(h.log_prob);
    const auto scores = score(m.c, *m.model, {from, targets}, {.start_id = m.model->special_ids().decoder_start});
    for (std::size_t i = 0; i < targets.size(); ++i) {
      EXPECT_NEAR(scores[i].log_prob, sums[i], 1e-4);
      EXPECT_EQ(scores[i].token_log_probs.size(), targets[i].size());
      const Score alone = score(m.c, *m.model, {std::span(&from[i], 1), std::span(&targets[i], 1)},
                                {.start_id = m.model->special_ids().decoder_start})[0];
      EXPECT_NEAR(alone.log_prob, scores[i].log_prob, 1e-4);
    }
  });
}

// After the first sentences, decoding takes no more memory from the system.
TEST(GoldenEncoderDecoder, SteadyDecodingTakesNoMoreMemory) {
  for_each_model([](Reference& m) {
    {
      Session session(m.c, *m.model);
      const auto decode = [&] { session.decode(m.sources, m.requests(m.sources.size(), 15), m.options(4)); };
      decode(), decode();
      const auto before = m.arena.stats();
      for (int i = 0; i < 5; ++i) decode();
      EXPECT_EQ(m.arena.stats().growths, before.growths);
      EXPECT_EQ(m.arena.stats().live_bytes, before.live_bytes);
    }
    EXPECT_EQ(m.arena.stats().live_bytes, 0u);
  });
}

TEST(WorkerPool, ThrowsTheFirstErrorAndGoesOnWorkingAfterwards) {
  WorkerPool workers(3);
  EXPECT_THROW(workers.run(100,
                           [](Context&, int, std::size_t job) {
                             if (job == 5) fail("job", "five");
                           }),
               Error);
  std::vector<int> done(200, 0);
  workers.run(200, [&](Context&, int, std::size_t job) { ++done[job]; });
  EXPECT_EQ(std::count(done.begin(), done.end(), 1), 200);
}

TEST(JobsByLength, TakeTheLongestFirstAndEachOnce) {
  const std::vector<std::size_t> lengths{3, 9, 3, 1, 9, 4, 2};
  const auto jobs = jobs_by_length(lengths, 3);
  EXPECT_EQ(jobs, (std::vector<std::vector<std::size_t>>{{1, 4, 5}, {0, 2, 6}, {3}}));
  EXPECT_TRUE(jobs_by_length({}, 3).empty());
}

}  // namespace
}  // namespace tril::search
