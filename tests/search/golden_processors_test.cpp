// Logits processors and warpers, separately and combined, equal those of `transformers` on the same logits
// (tests/golden/make_search.py).
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "format/safetensors.h"
#include "search/processors.h"
#include "search/warpers.h"
#include "support/golden.h"

namespace tril::search {
namespace {

using Ids = std::vector<std::int32_t>;

SearchPlan options_of(const nlohmann::json& setting, std::int32_t eos) {
  SearchPlan o;
  o.eos_ids = {eos};
  SamplingOptions& s = o.sampling;
  s.on = true;
  for (const auto& [name, value] : setting.items()) {
    if (name == "repetition_penalty") o.repetition_penalty = value;
    if (name == "presence_frequency") o.presence_penalty = value[0], o.frequency_penalty = value[1];
    if (name == "no_repeat_ngram_size") o.no_repeat_ngram = value;
    if (name == "encoder_no_repeat_ngram_size") o.encoder_no_repeat_ngram = value;
    if (name == "bad_words_ids") o.bad_words = value.get<std::vector<Ids>>();
    if (name == "forced_bos_token_id") o.forced_bos_id = value;
    if (name == "forced_eos") o.forced_eos_id = value[1];
    if (name == "suppress_tokens") o.suppress_ids = value.get<Ids>();
    if (name == "begin_suppress_tokens") o.begin_suppress_ids = value[1].get<Ids>();
    if (name == "temperature") s.temperature = value;
    if (name == "top_k") s.top_k = value;
    if (name == "top_p") s.top_p = value;
    if (name == "min_p") s.min_p = value;
    if (name == "typical_p") s.typical_p = value;
  }
  return o;
}

struct Rows {
  std::vector<Ids> tokens, sources;
  std::size_t prompt = 0;
};

// The rows of an integer matrix.
std::vector<Ids> rows_of(const WeightView& matrix) {
  const std::vector<std::int32_t> ids = to_i32(matrix);
  const auto columns = static_cast<std::ptrdiff_t>(matrix.shape[1]);
  std::vector<Ids> rows;
  for (auto row = ids.begin(); row != ids.end(); row += columns) rows.emplace_back(row, row + columns);
  return rows;
}

// Applies all settings, like a search.
std::vector<float> processed(const std::vector<float>& logits, const Rows& seen, const nlohmann::json& setting,
                             std::int32_t eos) {
  const std::vector<Ids>& rows = seen.tokens;
  Arena arena;
  Context c(arena);
  const SearchPlan o = options_of(setting, eos);
  const auto R = static_cast<std::int64_t>(rows.size());
  const std::size_t V = logits.size() / rows.size();
  const Tensor x = c.upload<float>(logits, {R, static_cast<std::int64_t>(V)});
  std::vector<Request> requests;
  std::vector<RowView> views;
  for (std::size_t r = 0; r < rows.size(); ++r)
    requests.push_back(
        {.start_id = rows[r][0],
         .min_length = setting.value("min_new_tokens", 0),
         .max_length = setting.contains("forced_eos") ? setting["forced_eos"][0].get<std::int32_t>() : 100,
         .prefix = {rows[r].begin() + 1, rows[r].begin() + static_cast<std::ptrdiff_t>(seen.prompt)},
         .source = seen.sources[r]});
  for (std::size_t r = 0; r < rows.size(); ++r) views.push_back({rows[r], &requests[r]});
  StepLogits step(c, x, {});
  for (const auto& processor : make_processors(o)) processor->apply(views, step);

  const std::vector<float> before = host_copy<float>(x);
  std::vector<float> after(before.size(), -INFINITY);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    Choices choices;
    for (std::size_t v = 0; v < V; ++v)
      if (before[r * V + v] > -INFINITY)
        choices.push_back({static_cast<double>(before[r * V + v]), static_cast<std::int32_t>(v)});
    warp(choices, o.sampling);
    for (const Choice& choice : choices)
      after[r * V + static_cast<std::size_t>(choice.token)] = static_cast<float>(choice.logit);
  }
  return after;
}

TEST(GoldenProcessors, AreThoseOfTransformers) {
  const auto path = test::golden_directory() / "search" / "processors.safetensors";
  if (test::other_golden_directory() && !std::filesystem::exists(path)) GTEST_SKIP() << "no " << path;
  const SafetensorsFile file = SafetensorsFile::open(path.string());
  const std::vector<float> logits = to_f32(file.at("in.logits"));
  const Rows all{rows_of(file.at("in.tokens")), rows_of(file.at("in.source"))};
  const auto prompt = static_cast<std::size_t>(std::stoi(*file.find_metadata("prompt")));
  const auto cases = nlohmann::json::parse(*file.find_metadata("cases"));
  ASSERT_GE(cases.size(), 70u);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const std::vector<float> expected = to_f32(file.at("out." + std::to_string(i)));
    Rows seen = all;
    const std::size_t length = cases[i].value("length", all.tokens[0].size());
    for (Ids& row : seen.tokens) row.resize(length);
    // A case about the first token has a start token and no prompt.
    seen.prompt = cases[i].contains("forced_bos_token_id") ? 1 : std::min(prompt, length);
    const std::vector<float> got = processed(logits, seen, cases[i], std::stoi(*file.find_metadata("eos")));
    for (std::size_t j = 0; j < got.size(); ++j)
      if (std::isinf(expected[j]) || std::isinf(got[j]))
        EXPECT_EQ(got[j], expected[j]) << cases[i] << " at " << j;
      else
        EXPECT_NEAR(got[j], expected[j], 1e-5 * (1 + std::abs(expected[j]))) << cases[i] << " at " << j;
  }
}

}  // namespace
}  // namespace tril::search
