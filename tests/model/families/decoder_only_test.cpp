// The same checks for every decoder-only family: gradients of all weights, rows in any batch, tokens one or several at
// a time with the cache, gradient checkpointing, weights of fewer bits, directories written and read again, and the
// spellings of version 4 of `transformers`.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "format/json_file.h"
#include "format/safetensors_write.h"
#include "model/families/family_checks.h"
#include "model_io/exports/quantize.h"
#include "model_io/source/model_source.h"
#include "support/golden.h"
#include "support/named_config.h"
#include "support/random_model.h"
#include "support/small_decoders.h"
#include "support/temporary.h"

namespace tril::model {
namespace {

using testing::expect_gradients_are_slopes, testing::expect_near, testing::gradients, testing::random_model,
    testing::relative_error;
using Ids = std::vector<std::int32_t>;

constexpr std::int32_t vocab = 13, longest = 9;

struct Batch {
  Ids ids;
  Rows rows;
};

Batch batch(std::uint64_t seed, std::int64_t tokens = 40) {
  RandomSequence random(seed, 1);
  Batch b;
  while (b.rows.tokens() < tokens) {
    const auto n = static_cast<std::int32_t>(1 + random.below(longest));
    b.rows.append(n);
    for (std::int32_t i = 0; i < n; ++i) b.ids.push_back(static_cast<std::int32_t>(random.below(vocab)));
  }
  return b;
}

// One test for each family does all checks: a test of its own for each check would take longer to start than to run.
class EveryDecoder : public ::testing::TestWithParam<testing::NamedConfig> {
 public:
  void gradients_are_finite_differences();
  void a_ragged_batch_is_its_rows_one_by_one();
  void tokens_a_step_equal_all_at_once();
  void a_windowed_cache_is_a_windowed_mask();
  void gradient_checkpointing_changes_no_number();
  void serves_with_fewer_bits();
  void directories_are_written_and_read();
  void unknown_keys_are_refused_by_name();
};
INSTANTIATE_TEST_SUITE_P(DecoderOnly, EveryDecoder,
                         ::testing::ValuesIn(testing::named_configs(testing::small_decoders())), testing::config_name);

Tensor logits_of(Context& c, const Model& m, const Batch& b) {
  return logits(c, m, m.decode(c, {.ids = b.ids, .rows = b.rows}));
}

testing::LossOf loss_of(Batch b) {
  return [b = std::move(b)](Context& c, const Model& m) {
    const OutputProjection out = m.output();
    return ops::projected_cross_entropy(c, {m.decode(c, {.ids = b.ids, .rows = b.rows}), out.weight, out.bias},
                                        c.upload(b.ids), {.normalizer = 1, .softcap = out.softcap});
  };
}

void EveryDecoder::gradients_are_finite_differences() {
  const nlohmann::json& config = GetParam().config;
  const auto m = random_model(config);
  const std::string family = config.at("model_type");
  // gemma4_text normalises four values for each layer, step3p5 has kinks at its limits.
  const double share = family == "gemma4_text" || family == "step3p5" ? 0.00003 : 0.0004;
  const auto vanishes = [&](const std::string& name) {  // a bias of keys cancels out in the softmax if positions
    const bool unturned = family == "opt" || family == "xglm" || family == "biogpt";  // do not rotate them
    const bool even = family == "phimoe" && name.ends_with("gate.weight");  // its small model weighs both experts by 1
    return even || (unturned && name.ends_with("k_proj.bias"));
  };
  expect_gradients_are_slopes(*m, loss_of(batch(1)), vanishes, share);
}

void EveryDecoder::a_ragged_batch_is_its_rows_one_by_one() {
  const nlohmann::json& config = GetParam().config;
  const auto m = random_model(config);
  Arena arena;
  Context c(arena);
  const Batch b = batch(2);
  const Tensor together = logits_of(c, *m, b);
  for (std::int64_t r = 0; r < b.rows.count(); ++r) {
    const Batch one{{b.ids.begin() + b.rows.begin(r), b.ids.begin() + b.rows.end(r)},
                    Rows::rectangle(1, b.rows.length(r))};
    expect_near(host_copy<float>(together.rows(b.rows.begin(r), b.rows.end(r))),
                host_copy<float>(logits_of(c, *m, one)), 5e-5);
  }
}

// Logits of tokens fed `at_once` at a time, with a cache.
std::vector<float> step_by_step(Context& c, const Model& m, const Batch& b, std::int32_t at_once,
                                nn::KvCache::Options kept = {}) {
  const auto cache = m.make_cache(c);
  cache->configure(kept);
  cache->add_rows(b.rows.count());
  std::vector<float> all(static_cast<std::size_t>(b.rows.tokens()) * vocab);
  for (std::int32_t t = 0; t < b.rows.longest(); t += at_once) {
    Rows rows;
    Ids ids;
    for (std::int64_t r = 0; r < b.rows.count(); ++r) {  // a finished row adds nothing
      const std::int32_t more = std::clamp(b.rows.length(r) - t, 0, at_once);
      rows.append(more, cache->length(r));
      for (std::int32_t i = 0; i < more; ++i) ids.push_back(b.ids[static_cast<std::size_t>(b.rows.begin(r) + t + i)]);
    }
    const auto step = host_copy<float>(logits(c, m,
                                              m.decode(c, {.ids = ids,
                                                           .rows = rows,
                                                           .cache = cache.get(),
                                                           .self_mask = ops::Mask::causal(kept.window, kept.sinks)})));
    for (std::int64_t r = 0; r < rows.count(); ++r)
      std::copy_n(step.begin() + rows.begin(r) * vocab, rows.length(r) * vocab,
                  all.begin() + (b.rows.begin(r) + t) * vocab);
  }
  return all;
}

void EveryDecoder::tokens_a_step_equal_all_at_once() {
  const nlohmann::json& config = GetParam().config;
  const auto m = random_model(config);
  for (const kern::Kernels* kernels : kern::tables()) {
    Arena arena;
    Context c(arena, *kernels);
    const Batch b = batch(3, 60);
    const auto all = host_copy<float>(logits_of(c, *m, b));
    for (const std::int32_t at_once : {1, 3}) expect_near(step_by_step(c, *m, b, at_once), all, 1e-4);
    const nn::KvCache::Options eight_bits{.precision = nn::KvCache::Precision::int8};
    if (!m->make_cache(c)->keeps_tokens()) {
      EXPECT_TRUE(contains(error_of([&] { step_by_step(c, *m, b, 2, eight_bits); }), "in float32 only"));
      continue;
    }
    const auto rounded = step_by_step(c, *m, b, 2, eight_bits);
    EXPECT_LT(relative_error(rounded, all), 0.05) << "a cache of 8 bits";
  }
}

// A windowed cache gives the same results as a mask of that window, whatever the layers' own windows.
void EveryDecoder::a_windowed_cache_is_a_windowed_mask() {
  const nlohmann::json& config = GetParam().config;
  const auto m = random_model(config);
  Arena arena;
  Context c(arena);
  const Batch b = batch(5, 60);
  if (!m->make_cache(c)->keeps_tokens()) {
    const ops::Mask mask = ops::Mask::causal(2);
    for (const std::string& text : {error_of([&] { step_by_step(c, *m, b, 2, {.window = 2}); }),
                                    error_of([&] { m->decode(c, {.ids = b.ids, .rows = b.rows, .self_mask = mask}); })})
      EXPECT_TRUE(contains(text, "attention window")) << text;
    return;
  }
  for (const std::int32_t window : {2, 5}) {
    const auto masked = host_copy<float>(
        logits(c, *m, m->decode(c, {.ids = b.ids, .rows = b.rows, .self_mask = ops::Mask::causal(window)})));
    expect_near(step_by_step(c, *m, b, 2, {.window = window}), masked, 1e-4);
  }
}

void EveryDecoder::gradient_checkpointing_changes_no_number() {
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

// The minimum widths for stacked matrices.
nlohmann::json wider(nlohmann::json config) {
  for (const char* key : {"hidden_size", "n_embd", "d_model"})
    if (config.contains(key)) config[key] = 128;
  for (const char* key : {"intermediate_size", "ffn_dim", "d_ff"})
    if (config.contains(key)) config[key] = 96;
  if (config.contains("head_dim")) config["head_dim"] = 32;
  for (const char* key : {"linear_key_head_dim", "linear_value_head_dim"})
    if (config.contains(key)) config[key] = 16;
  if (config.at("model_type") == "mamba2") config["num_heads"] = 8;  // together twice the width
  return config;
}

// The same weights with fewer bits: nearly the same logits, all at once and step by step, from memory and from files.
void EveryDecoder::serves_with_fewer_bits() {
  const nlohmann::json& narrow = GetParam().config;
  const nlohmann::json config = wider(narrow);
  const auto m = random_model(config);
  const TemporaryDirectory dir;
  save(*m, dir.path("m"));
  const Batch b = batch(6);
  Arena arena;
  Context c(arena);
  const auto expected = host_copy<float>(logits_of(c, *m, b));
  for (const auto& [precision, most] : {std::pair{nn::Precision::fp32, 1e-4},
                                        {nn::Precision::bf16, 0.05},
                                        {nn::Precision::int8, 0.1},
                                        {nn::Precision::int4, 0.6}}) {
    const auto served = load(ModelSource::open(dir.path("m")), precision);
    std::vector<std::vector<float>> found;
    for (const std::int32_t at_once : {longest, 3, 1}) {
      found.push_back(step_by_step(c, *served, b, at_once));
      // Rounding may send a token to another expert, or move its weight there where the router reads a rounded delta rule.
      const bool flips = config.contains("num_local_experts") || config.at("model_type") == "qwen3_next";
      EXPECT_LT(relative_error(found.back(), expected), most + (flips ? 0.1 : 0))
          << static_cast<int>(precision) << ", " << at_once << " tokens a step";
      EXPECT_LT(relative_error(found.back(), found[0]), 0.05) << at_once << " tokens a step";
    }
  }
  quantize(ModelSource::open(dir.path("m")), dir.path("q"), 8);
  const auto stored = load(ModelSource::open(dir.path("q")), nn::Precision::int8),
             made = load(ModelSource::open(dir.path("m")), nn::Precision::int8);
  EXPECT_EQ(host_copy<float>(logits_of(c, *stored, b)), host_copy<float>(logits_of(c, *made, b)));
}

// Writes the directory and the model's outputs for check_export.py.
void leave_for_others(const Model& m, Context& c, const std::filesystem::path& dir) {
  save(m, dir);
  const Batch b{{3, 1, 4, 1, 5, 9, 2, 6}, Rows::rectangle(1, 8)};
  const std::vector<float> values = host_copy<float>(logits_of(c, m, b));
  write_safetensors((dir / "expected.safetensors").string(),
                    {{"input_ids", StoredType::i32, {1, 8}, std::as_bytes(std::span(b.ids))},
                     {"logits", StoredType::f32, {8, vocab}, std::as_bytes(std::span(values))}},
                    {});
}

// A saved directory gives the same model, and the same configuration.
void EveryDecoder::directories_are_written_and_read() {
  const nlohmann::json& config = GetParam().config;
  const TemporaryDirectory dir;
  const auto m = random_model(config);
  save(*m, dir.path());
  const auto again = load(ModelSource::open(dir.path()));
  EXPECT_EQ(again->config_json(), m->config_json());
  EXPECT_EQ(again->family(), testing::family_of(config));
  Arena arena;
  Context c(arena);
  const Batch b = batch(7);
  if (const char* root = std::getenv("TRIL_EXPORT_DIR"))
    leave_for_others(*m, c, std::filesystem::path(root) / GetParam().name);
  // Norms that are stored minus one may differ in their last bit.
  expect_near(host_copy<float>(logits_of(c, *again, b)), host_copy<float>(logits_of(c, *m, b)), 1e-6);
}

// The configuration of the same model as version 4 wrote it.
nlohmann::json as_version_4(nlohmann::json j) {
  const std::string family = j.at("model_type");
  j["torch_dtype"] = j.at("dtype");
  j.erase("dtype");
  if (family == "qwen2" || family == "qwen3" || family == "gemma2") j.erase("layer_types");  // it had none of these
  j["transformers_version"] = "4.46.0";
  const auto at = j.find("rope_parameters");
  if (at == j.end()) return j;
  nlohmann::json rope = *at;
  if (rope.contains("full_attention") || family == "ministral3") return j;  // version 5 made these families' keys
  j.erase("rope_parameters");
  const double theta = rope.at("rope_theta");
  rope.erase("rope_theta");
  if (family == "gpt_neox") {
    j["rotary_emb_base"] = theta, j["rotary_pct"] = rope.at("partial_rotary_factor");
  } else {
    j["rope_theta"] = theta;
    if (rope.contains("partial_rotary_factor")) j["partial_rotary_factor"] = rope.at("partial_rotary_factor");
  }
  rope.erase("partial_rotary_factor");
  j["rope_scaling"] = rope.at("rope_type") == "default" ? nlohmann::json(nullptr) : rope;
  return j;
}

TEST(DecoderOnly, OldSpellingsAreTheSameModel) {
  if (test::other_golden_directory()) GTEST_SKIP() << "those of the project";
  for (const auto& dir : test::golden_model_directories("decoder-only")) {
    SCOPED_TRACE(dir.string());
    const auto m = load(ModelSource::open(dir));
    const nlohmann::json own = read_json((dir / "config.json").string());
    if (own.contains("text_config")) continue;  // of pictures and text
    const nlohmann::json old = as_version_4(own);
    const auto again = make(JsonObject(old, "config.json"));
    load_weights(*again, ModelSource::open(dir));
    EXPECT_EQ(again->config_json(), m->config_json());
    Arena arena;
    Context c(arena);
    const Batch b = batch(8);
    EXPECT_EQ(host_copy<float>(logits_of(c, *again, b)), host_copy<float>(logits_of(c, *m, b)));
  }
}

// Keys without effect are ignored, those that might change results are refused by name.
void EveryDecoder::unknown_keys_are_refused_by_name() {
  const nlohmann::json& config = GetParam().config;
  if (config.at("model_type") == "tril") return;
  const auto key_of = [&](std::initializer_list<const char*> spellings) {
    return std::string(*std::find_if(spellings.begin(), spellings.end(), [&](auto s) { return config.contains(s); }));
  };
  const std::string layers = key_of({"n_layer", "n_layers", "num_layers", "num_hidden_layers"}),
                    heads = key_of({"n_head", "n_heads", "num_heads", "attention_heads", "num_attention_heads"});
  const auto with = [&](const std::string& key, const nlohmann::json& value) {
    nlohmann::json j = config;
    j[key] = value;
    return j;
  };
  for (const auto& [key, value] : std::vector<std::pair<std::string, nlohmann::json>>{{"_name_or_path", "x/y"},
                                                                                      {"transformers_version", "4.1"},
                                                                                      {"use_cache", false},
                                                                                      {"new_scale", nullptr},
                                                                                      {"new_switch", false},
                                                                                      {"architectures", {"X"}},
                                                                                      {"temperature", 0.7}}) {
    const nlohmann::json j = with(key, value);
    EXPECT_NO_THROW(make(JsonObject(j, "config.json"))) << key;
  }
  for (const auto& [key, value] : std::vector<std::pair<std::string, nlohmann::json>>{{"attention_sink", true},
                                                                                      {"logit_multiplier", 2.0},
                                                                                      {heads, -1},
                                                                                      {"vocab_size", 0},
                                                                                      {layers, 5000},
                                                                                      {"eos_token_id", 13}}) {
    const nlohmann::json j = with(key, value);
    const std::string text = error_of([&] { make(JsonObject(j, "config.json")); });
    EXPECT_TRUE(contains(text, key)) << text;
  }
}

// What counts is what transformers does with these keys: what it ignores is ignored; what it fails on is refused.
TEST(DecoderOnly, KeysThatTransformersDoesNotObey) {
  const auto error = [](const nlohmann::json& config) {
    return error_of([&] { make(JsonObject(config, "config.json")); });
  };
  for (const char* family :
       {"llama", "mistral", "mixtral", "qwen2", "qwen3", "gemma", "gemma2", "olmo2", "granite", "phi", "phi3"}) {
    const bool part = std::string_view(family).starts_with("phi");
    for (const nlohmann::json& half :
         {nlohmann::json{{"partial_rotary_factor", 0.5}},
          nlohmann::json{{"rope_parameters", {{"rope_type", "default"}, {"partial_rotary_factor", 0.5}}}}}) {
      const std::string text = error(testing::llama_variant(family, half));
      EXPECT_EQ(text, "") << family << (part ? " turns a part of a head" : " turns whole heads whatever it says");
    }
    const std::string stretched = error(testing::llama_variant(
        family, {{"partial_rotary_factor", 0.5}, {"rope_scaling", {{"type", "linear"}, {"factor", 2.0}}}}));
    EXPECT_EQ(contains(stretched, "partial_rotary_factor: 0.5 is not supported: this family rotates whole heads"),
              !part)
        << family << ": " << stretched;
    EXPECT_EQ(error(testing::llama_variant(family, {{"partial_rotary_factor", 1.0}})), "") << family;
  }
  const nlohmann::json neox = {{"num_key_value_heads", nullptr}, {"rotary_pct", 0.5}, {"rotary_emb_base", 100}};
  const auto neox_with = [&](nlohmann::json more) {
    more.update(neox);
    return error(testing::llama_variant("gpt_neox", more));
  };
  EXPECT_EQ(neox_with({{"rope_theta", 100.0}, {"partial_rotary_factor", 0.5}}), "");
  EXPECT_TRUE(contains(neox_with({{"rope_theta", 1000.0}}), "rope_theta: 1000.0 contradicts rotary_emb_base 100"));
  EXPECT_TRUE(contains(neox_with({{"partial_rotary_factor", 1.0}}), "contradicts rotary_pct 0.5"));
  EXPECT_EQ(neox_with({{"num_steps", "global_step320000"}, {"custom_pipelines", nlohmann::json::object()}}), "");
}

TEST(DecoderOnly, GemmaReadsHiddenAct) {
  const auto act = [](const nlohmann::json& more) {
    return nlohmann::json::parse(make(JsonObject(testing::llama_variant("gemma", more), "config.json"))->config_json())
        .at("hidden_act")
        .get<std::string>();
  };
  EXPECT_EQ(act(nlohmann::json::object()), "gelu_pytorch_tanh");
  EXPECT_EQ(act({{"hidden_act", "gelu"}}), "gelu_pytorch_tanh") << "what the first files say and do not mean";
  EXPECT_EQ(act({{"hidden_act", "gelu"}, {"hidden_activation", "gelu_pytorch_tanh"}}), "gelu_pytorch_tanh");
  EXPECT_EQ(act({{"hidden_act", "silu"}, {"hidden_activation", nullptr}}), "silu");
  for (const nlohmann::json& more : {nlohmann::json{{"hidden_activation", "gelu"}},
                                     nlohmann::json{{"hidden_act", "gelu"}, {"hidden_activation", "silu"}},
                                     nlohmann::json{{"hidden_act", "silu"}, {"hidden_activation", "gelu_new"}}})
    EXPECT_TRUE(contains(error_of([&] { act(more); }), "hidden_activation: ")) << more;
}

TEST(DecoderOnly, ListsOfEndsAreRead) {
  const nlohmann::json j = testing::llama_variant("llama", {{"eos_token_id", {7, 9}}});
  EXPECT_EQ(make(JsonObject(j, "config.json"))->special_ids().eos, 7);
}

TEST_P(EveryDecoder, PassesAllChecks) {
  const auto check = [&](const char* name, void (EveryDecoder::*run)()) {
    SCOPED_TRACE(name);
    (this->*run)();
  };
  check("gradients_are_finite_differences", &EveryDecoder::gradients_are_finite_differences);
  check("a_ragged_batch_is_its_rows_one_by_one", &EveryDecoder::a_ragged_batch_is_its_rows_one_by_one);
  check("tokens_a_step_equal_all_at_once", &EveryDecoder::tokens_a_step_equal_all_at_once);
  check("a_windowed_cache_is_a_windowed_mask", &EveryDecoder::a_windowed_cache_is_a_windowed_mask);
  check("gradient_checkpointing_changes_no_number", &EveryDecoder::gradient_checkpointing_changes_no_number);
  check("serves_with_fewer_bits", &EveryDecoder::serves_with_fewer_bits);
  check("directories_are_written_and_read", &EveryDecoder::directories_are_written_and_read);
  check("unknown_keys_are_refused_by_name", &EveryDecoder::unknown_keys_are_refused_by_name);
}

}  // namespace
}  // namespace tril::model
