// The same checks for every encoder-decoder family: gradients of all weights, rows in any batch, tokens one or several
// at a time with the cache, gradient checkpointing, and weights of fewer bits.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <functional>

#include "format/safetensors.h"
#include "format/safetensors_write.h"
#include "model/families/family_checks.h"
#include "model_io/source/model_source.h"
#include "model_io/source/registry.h"
#include "support/named_config.h"
#include "support/random_model.h"
#include "support/small_encoder_decoders.h"
#include "support/small_marian.h"
#include "support/temporary.h"

namespace tril::model::encoder_decoder_test {
namespace {

using testing::Batch, testing::expect_gradients_are_slopes, testing::expect_near, testing::gradients,
    testing::random_model;

constexpr std::int32_t vocab = 13, longest = 8;

// One test for each family does all checks: a test of its own for each check would take longer to start than to run.
class EveryEncoderDecoder : public ::testing::TestWithParam<testing::NamedConfig> {
 public:
  void gradients_are_finite_differences();
  void a_ragged_batch_is_its_rows_one_by_one();
  void tokens_a_step_equal_all_at_once();
  void sinks_are_refused_where_only_distances_count();
  void gradient_checkpointing_changes_no_number();
  void directories_are_written_and_read();
  void serves_with_fewer_bits();
};
INSTANTIATE_TEST_SUITE_P(EncoderDecoder, EveryEncoderDecoder,
                         ::testing::ValuesIn(testing::named_configs(testing::small_encoder_decoders())),
                         testing::config_name);

Tensor logits_of(Context& c, const Model& m, const Batch& b) {
  const Memory memory = m.encode(c, b.source, b.source_rows);
  return logits(c, m, m.decode(c, {.ids = b.target, .rows = b.target_rows, .memory = &memory}));
}

testing::LossOf loss_of(Batch b) {
  return [b = std::move(b)](Context& c, const Model& m) {
    const Memory memory = m.encode(c, b.source, b.source_rows);
    const Tensor hidden = m.decode(c, {.ids = b.target, .rows = b.target_rows, .memory = &memory});
    const OutputProjection out = m.output();
    return ops::projected_cross_entropy(c, {hidden, out.weight, out.bias}, c.upload(b.target), {.normalizer = 1});
  };
}

Batch batch(std::uint64_t seed, std::int64_t tokens = 40) {
  RandomSequence random(seed, 1);
  return testing::random_batch(random, tokens, longest, vocab);
}

// Of few tokens where a small step may send one to another expert, which makes the loss jump. Then some experts have none,
// but most have.
void expect_gradients_of_experts(Model& m, std::uint64_t seed) {
  const auto of_expert = [](const std::string& name) { return name.find(".experts.") != name.npos; };
  const auto& all = m.parameters().all();
  const auto weights = std::count_if(all.begin(), all.end(), [&](const nn::Parameter& p) { return of_expert(p.name); });
  std::int64_t idle = 0;
  expect_gradients_are_slopes(m, loss_of(batch(seed, 10)), [&](const std::string& name) {
    idle += of_expert(name);
    return of_expert(name);
  });
  EXPECT_LE(2 * idle, weights * static_cast<std::int64_t>(kern::tables().size()));
}

void EveryEncoderDecoder::gradients_are_finite_differences() {
  const nlohmann::json& config = GetParam().config;
  const auto m = random_model(config);
  if (config.contains("num_experts")) return expect_gradients_of_experts(*m, 10);
  const auto cancels_out = [](const std::string& name) {  // a bias of keys
    return name.find(".k") != name.npos && name.ends_with("bias");
  };
  // An SSRU's max(c, 0) has a kink for each token and column.
  const double share = config.contains("decoder_cell") ? 0.00005 : 0.0004;
  expect_gradients_are_slopes(*m, loss_of(batch(1)), cancels_out, share);
}

void EveryEncoderDecoder::a_ragged_batch_is_its_rows_one_by_one() {
  const nlohmann::json& config = GetParam().config;
  const auto m = random_model(config);
  Arena arena;
  Context c(arena);
  const Batch b = batch(2);
  const Tensor together = logits_of(c, *m, b);
  const auto row_of = [](const std::vector<std::int32_t>& ids, const Rows& rows, std::int64_t r) {
    return std::vector<std::int32_t>{ids.begin() + rows.begin(r), ids.begin() + rows.end(r)};
  };
  for (std::int64_t r = 0; r < b.target_rows.count(); ++r) {
    const Batch one{row_of(b.source, b.source_rows, r), row_of(b.target, b.target_rows, r),
                    Rows::rectangle(1, b.source_rows.length(r)), Rows::rectangle(1, b.target_rows.length(r))};
    expect_near(host_copy<float>(together.rows(b.target_rows.begin(r), b.target_rows.end(r))),
                host_copy<float>(logits_of(c, *m, one)), 5e-5);
  }
}

// Logits of tokens fed `at_once` at a time, with a cache.
std::vector<float> step_by_step(Context& c, const Model& m, const Batch& b, std::int32_t at_once) {
  const Memory memory = m.encode(c, b.source, b.source_rows);
  const auto cache = m.make_cache(c);
  cache->add_rows(b.target_rows.count());
  std::vector<float> all(static_cast<std::size_t>(b.target_rows.tokens()) * vocab);
  for (std::int32_t t = 0; t < b.target_rows.longest(); t += at_once) {
    Rows rows;
    std::vector<std::int32_t> ids;
    for (std::int64_t r = 0; r < b.target_rows.count(); ++r) {  // a finished row adds nothing
      const std::int32_t more = std::clamp(b.target_rows.length(r) - t, 0, at_once);
      rows.append(more, cache->length(r));
      for (std::int32_t i = 0; i < more; ++i)
        ids.push_back(b.target[static_cast<std::size_t>(b.target_rows.begin(r) + t + i)]);
    }
    const auto step = host_copy<float>(
        logits(c, m, m.decode(c, {.ids = ids, .rows = rows, .memory = &memory, .cache = cache.get()})));
    for (std::int64_t r = 0; r < rows.count(); ++r)
      std::copy_n(step.begin() + rows.begin(r) * vocab, rows.length(r) * vocab,
                  all.begin() + (b.target_rows.begin(r) + t) * vocab);
  }
  return all;
}

void EveryEncoderDecoder::tokens_a_step_equal_all_at_once() {
  const nlohmann::json& config = GetParam().config;
  const auto m = random_model(config);
  for (const kern::Kernels* kernels : kern::tables()) {
    Arena arena;
    Context c(arena, *kernels);
    const Batch b = batch(3, 60);
    const auto all = host_copy<float>(logits_of(c, *m, b));
    for (const std::int32_t at_once : {1, 3}) expect_near(step_by_step(c, *m, b, at_once), all, 1e-4);
  }
}

// A sink keeps its absolute place, so its distance is unbounded: relative positions have no bias for that.
void EveryEncoderDecoder::sinks_are_refused_where_only_distances_count() {
  const nlohmann::json& config = GetParam().config;
  const auto m = random_model(config);
  Arena arena;
  Context c(arena);
  const Batch b = batch(9);
  const Memory memory = m->encode(c, b.source, b.source_rows);
  const auto decode = [&] {
    m->decode(c, {.ids = b.target, .rows = b.target_rows, .memory = &memory, .self_mask = ops::Mask::causal(3, 1)});
  };
  if (config.contains("relative_attention_num_buckets")) {
    EXPECT_NE(error_of(decode).find("leave the sinks out"), std::string::npos);
  } else if (config.contains("decoder_cell")) {
    EXPECT_NE(error_of(decode).find("keeps no tokens"), std::string::npos);
  } else {
    EXPECT_NO_THROW(decode());
  }
}

// An expert takes `expert_capacity` tokens of a row that one call computes, whatever other rows do; FF(x) is 0 for the
// others. Tokens that come one call at a time are all taken, as in `transformers` with its cache.
TEST(EncoderDecoder, ExpertsTakeAsManyTokensOfARowAsTheyHaveRoomFor) {
  nlohmann::json config = testing::t5_variant("switch_transformers", {{"num_decoder_layers", 2},
                                                                      {"num_experts", 2},
                                                                      {"num_sparse_encoder_layers", 1},
                                                                      {"num_sparse_decoder_layers", 1},
                                                                      {"dense_act_fn", "silu"},
                                                                      {"expert_capacity", longest}});
  const Batch b = batch(11);
  Arena arena;
  Context c(arena);
  const auto enough = random_model(config);
  config["expert_capacity"] = 1;
  const auto one = random_model(config);
  const auto logits = host_copy<float>(logits_of(c, *one, b));
  EXPECT_NE(logits, host_copy<float>(logits_of(c, *enough, b)));
  expect_gradients_of_experts(*one, 8);

  for (std::int64_t r = 0; r < b.target_rows.count(); ++r) {
    const auto row_of = [r](const std::vector<std::int32_t>& ids, const Rows& rows) {
      return std::vector<std::int32_t>{ids.begin() + rows.begin(r), ids.begin() + rows.end(r)};
    };
    const Batch alone{row_of(b.source, b.source_rows), row_of(b.target, b.target_rows),
                      Rows::rectangle(1, b.source_rows.length(r)), Rows::rectangle(1, b.target_rows.length(r))};
    expect_near(host_copy<float>(logits_of(c, *one, alone)),
                {logits.begin() + b.target_rows.begin(r) * vocab, logits.begin() + b.target_rows.end(r) * vocab}, 5e-5);
  }

  // The decoder drops tokens of whole rows, and none of tokens that come one by one.
  const Memory memory = one->encode(c, b.source, b.source_rows);
  const auto with_room = host_copy<float>(
      model::logits(c, *enough, enough->decode(c, {.ids = b.target, .rows = b.target_rows, .memory = &memory})));
  expect_near(step_by_step(c, *one, b, 1), with_room, 1e-4);
}

void EveryEncoderDecoder::gradient_checkpointing_changes_no_number() {
  const nlohmann::json& config = GetParam().config;
  const auto m = random_model(config);
  Arena arena;
  Context c(arena);
  c.set_training(true);
  const Batch b = batch(4);
  std::vector<std::vector<float>> found[2];
  for (const bool on : {false, true}) {
    m->set_gradient_checkpointing(on);
    c.set_rng(Rng(8));
    found[on] = gradients(c, *m, loss_of(b));
  }
  ASSERT_EQ(found[0].size(), found[1].size());
  for (std::size_t i = 0; i < found[0].size(); ++i) expect_near(found[1][i], found[0][i], 1e-5);
}

// The directory for tests/model_io/check_export.py, which computes the same in `transformers`.
void leave_for_others(const Model& m, Context& c, const std::filesystem::path& dir) {
  save(m, dir);
  const Batch b{{3, 1, 4, 1, 5, 9, 2}, {6, 5, 3, 5, 8}, Rows::rectangle(1, 7), Rows::rectangle(1, 5)};
  // M2M100 numbers positions without counting padding tokens.
  const std::int32_t pad = m.special_ids().pad;
  Batch used = b;
  for (std::int32_t& id : used.source) id = id == pad ? 10 : id;
  for (std::int32_t& id : used.target) id = id == pad ? 10 : id;
  const std::vector<float> values = host_copy<float>(logits_of(c, m, used));
  write_safetensors((dir / "expected.safetensors").string(),
                    {{"input_ids", StoredType::i32, {1, 7}, std::as_bytes(std::span(used.source))},
                     {"decoder_input_ids", StoredType::i32, {1, 5}, std::as_bytes(std::span(used.target))},
                     {"logits", StoredType::f32, {5, vocab}, std::as_bytes(std::span(values))}},
                    {});
}

// A saved directory gives the same model, and the same configuration.
void EveryEncoderDecoder::directories_are_written_and_read() {
  const nlohmann::json& config = GetParam().config;
  const TemporaryDirectory dir;
  const auto m = random_model(config);
  save(*m, dir.path());
  const auto again = load(ModelSource::open(dir.path()));
  EXPECT_EQ(again->config_json(), m->config_json());
  EXPECT_EQ(again->family(), testing::family_of(config));
  Arena arena;
  Context c(arena);
  const bool is_published = config.at("model_type") != "tril";
  if (const char* root = std::getenv("TRIL_EXPORT_DIR"); root && is_published)
    leave_for_others(*m, c, std::filesystem::path(root) / GetParam().name);
  const Batch b = batch(7);
  if (config.at("model_type") == "t5gemma")  // whose norms are stored less one
    testing::expect_near(host_copy<float>(logits_of(c, *again, b)), host_copy<float>(logits_of(c, *m, b)), 1e-5);
  else
    EXPECT_EQ(host_copy<float>(logits_of(c, *again, b)), host_copy<float>(logits_of(c, *m, b)));
}

// The files determine whether T5's output is tied, whatever config.json says; in version 4 its `false` also meant that
// the output is not scaled, which mT5's never is.
TEST(EncoderDecoder, T5FilesSayWhetherTheOutputIsTied) {
  for (const bool tied : {false, true}) {
    const TemporaryDirectory dir;
    nlohmann::json config = testing::t5_variant("t5", {{"tie_word_embeddings", tied}});
    save(*random_model(config), dir.path());
    EXPECT_EQ(load(ModelSource::open(dir.path()))->parameters().find("lm_head.weight") == nullptr, tied);
    for (const bool said : {false, true}) {
      config["tie_word_embeddings"] = said;
      std::ofstream(dir.path("config.json")) << config.dump();
      const auto m = load(ModelSource::open(dir.path()));
      EXPECT_EQ(m->parameters().find("lm_head.weight") == nullptr, tied) << said;
      EXPECT_EQ(nlohmann::json::parse(m->config_json()).at("scale_decoder_outputs"), said);
    }
  }
}

// The same weights with fewer bits: nearly the same logits, all at once and step by step.
void EveryEncoderDecoder::serves_with_fewer_bits() {
  nlohmann::json config = GetParam().config;
  // As wide as stacked matrices must be.
  if (config.contains("decoder"))
    config["encoder"]["hidden_size"] = config["decoder"]["hidden_size"] = 64;
  else
    config["d_model"] = 64;
  if (config.contains("d_kv")) config["d_kv"] = 32;
  const auto m = random_model(config);
  const Batch b = batch(6);
  Arena arena;
  Context c(arena);
  const auto expected = host_copy<float>(logits_of(c, *m, b));
  double size = 0;
  for (float x : expected) size += static_cast<double>(x) * static_cast<double>(x);
  for (const auto& [precision, most] :
       {std::pair{nn::Precision::fp32, 1e-4}, {nn::Precision::bf16, 0.1}, {nn::Precision::int8, 0.2}}) {
    const auto served = random_model(config, precision);
    for (const std::int32_t at_once : {1, 3, longest}) {
      const auto got = step_by_step(c, *served, b, at_once);
      double error = 0;
      for (std::size_t i = 0; i < got.size(); ++i)
        error += std::pow(static_cast<double>(got[i]) - static_cast<double>(expected[i]), 2);
      // A router that reads rounded states may choose another expert.
      EXPECT_LT(std::sqrt(error / size), most + (config.contains("num_experts") ? 0.1 : 0))
          << static_cast<int>(precision) << ", " << at_once << " tokens a step";
    }
  }
}

TEST_P(EveryEncoderDecoder, PassesAllChecks) {
  const auto check = [&](const char* name, void (EveryEncoderDecoder::*run)()) {
    SCOPED_TRACE(name);
    (this->*run)();
  };
  check("gradients_are_finite_differences", &EveryEncoderDecoder::gradients_are_finite_differences);
  check("a_ragged_batch_is_its_rows_one_by_one", &EveryEncoderDecoder::a_ragged_batch_is_its_rows_one_by_one);
  check("tokens_a_step_equal_all_at_once", &EveryEncoderDecoder::tokens_a_step_equal_all_at_once);
  check("sinks_are_refused_where_only_distances_count",
        &EveryEncoderDecoder::sinks_are_refused_where_only_distances_count);
  check("gradient_checkpointing_changes_no_number", &EveryEncoderDecoder::gradient_checkpointing_changes_no_number);
  check("directories_are_written_and_read", &EveryEncoderDecoder::directories_are_written_and_read);
  check("serves_with_fewer_bits", &EveryEncoderDecoder::serves_with_fewer_bits);
}

}  // namespace
}  // namespace tril::model::encoder_decoder_test
