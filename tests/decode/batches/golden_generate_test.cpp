// Continuations by published decoder-only families: greedy and beam search, equal to `transformers` token for token and
// score for score.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "decode/batches/session.h"
#include "decode/models/decoding_options.h"
#include "decode/texts/search_setup.h"
#include "model_io/source/model_source.h"
#include "support/golden.h"

namespace tril::search {
namespace {

using Ids = std::vector<std::int32_t>;

struct Case {
  std::vector<Request> requests;
  std::vector<Ids> greedy, beam;  ///< generated tokens up to the first end token
  std::vector<float> beam_scores;
};

// @param prefix  of the tensors: "" for one row, "batch_" for several, left-padded
Case read_case(const SafetensorsFile& file, const std::string& prefix, const Ids& ends, std::int32_t max_length) {
  Case found;
  const WeightView& view = file.at(prefix + "input_ids");
  const Ids ids = to_i32(view), mask = to_i32(file.at(prefix + "attention_mask"));
  const auto T = static_cast<std::size_t>(view.shape[1]);
  for (std::size_t begin = 0; begin < ids.size(); begin += T) {
    Ids row;
    for (std::size_t t = begin; t < begin + T; ++t)
      if (mask[t]) row.push_back(ids[t]);
    found.requests.push_back(
        {.start_id = row[0], .min_length = 0, .max_length = max_length, .prefix = {row.begin() + 1, row.end()}});
  }
  const auto generated = [&](const std::string& name) {
    const WeightView& all = file.at(prefix + name);
    const Ids tokens = to_i32(all);
    const auto width = static_cast<std::ptrdiff_t>(all.shape.back());
    std::vector<Ids> list;
    for (auto row = tokens.begin(); row != tokens.end(); row += width) {
      const auto begin = row + static_cast<std::ptrdiff_t>(T);
      auto end = std::find_first_of(begin, row + width, ends.begin(), ends.end());
      if (end != row + width) ++end;
      list.emplace_back(begin, end);
    }
    return list;
  };
  found.greedy = generated("greedy");
  found.beam = generated("beam");
  found.beam_scores = to_f32(file.at(prefix + "beam_scores"));
  return found;
}

TEST(GoldenGenerate, IsThatOfTransformers) {
  const auto directories = test::golden_model_directories("decoder-only");
  if (directories.empty() && test::other_golden_directory()) GTEST_SKIP() << "no model in " << test::golden_directory();
  ASSERT_FALSE(directories.empty()) << "no model in " << test::golden_directory();
  for (const auto& dir : directories) {
    SCOPED_TRACE(dir.string());
    const std::unique_ptr<model::Model> m = model::load(model::ModelSource::open(dir));
    const Ids ends = end_tokens(published_generation(model::ModelSource::open(dir.string())), *m);
    const SafetensorsFile file = SafetensorsFile::open((dir / "expected.safetensors").string());
    const auto arguments = nlohmann::json::parse(*file.find_metadata("beam"));
    Arena arena;
    Context c(arena);
    SearchPlan greedy;
    greedy.eos_ids = ends;
    SearchPlan beam = greedy;
    beam.beam_size = beam.n_best = arguments.at("num_beams").get<std::int32_t>();
    beam.length_penalty = arguments.at("length_penalty").get<double>();
    beam.early_stopping = arguments.at("early_stopping") == true ? EarlyStopping::yes : EarlyStopping::no;

    for (const std::string prefix : {"", "batch_"}) {
      const Case expected = read_case(file, prefix, ends, arguments.at("max_new_tokens").get<std::int32_t>());
      for (const bool use_cache : {true, false}) {
        Session session(c, *m, {.cache = {.use = use_cache}});
        const auto got = session.decode({}, expected.requests, greedy);
        ASSERT_EQ(got.size(), expected.greedy.size());
        for (std::size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i][0].tokens, expected.greedy[i]) << prefix << i;

        const auto best = session.decode({}, expected.requests, beam);
        const auto width = static_cast<std::size_t>(beam.beam_size);
        ASSERT_EQ(best.size() * width, expected.beam.size());
        for (std::size_t i = 0; i < expected.beam.size(); ++i) {
          const Hypothesis& h = best[i / width].at(i % width);
          EXPECT_EQ(h.tokens, expected.beam[i]) << prefix << i << ", cache " << use_cache;
          EXPECT_NEAR(h.score, static_cast<double>(expected.beam_scores[i]), 1e-4) << prefix << i;
        }
        if (use_cache) {
          EXPECT_EQ(session.cache()->used_slots(), 0) << "slots that did not come back";
        }
      }
    }
  }
}

}  // namespace
}  // namespace tril::search
