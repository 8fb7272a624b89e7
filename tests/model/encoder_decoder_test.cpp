// Every encoder-decoder family, each as any other: gradients of all its weights, rows in any company, tokens one or
// several at a time with the cache, layers computed again in the backward pass, and weights of fewer bits.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <functional>

#include "model/registry.h"
#include "model/safetensors.h"
#include "small_encoder_decoders.h"
#include "small_marian.h"
#include "text/temporary.h"

namespace tril::model {
namespace {

using testing::Batch;

constexpr std::int32_t vocab = 13, longest = 8;

// Made of config.json, every weight random: none is at 0 or 1, where a mistake would not show.
std::unique_ptr<Model> random_model(const nlohmann::json& config, std::optional<nn::Precision> serving = {}) {
  const TemporaryDirectory dir;
  std::ofstream(dir.path("config.json")) << config.dump();
  auto m = make(dir.path("config.json"));
  if (serving)
    m->parameters().allocate_serving(*serving);
  else
    m->parameters().allocate();
  std::uint64_t stream = 0;
  for (nn::Parameter& p : m->parameters().all()) {
    RandomSequence random(5, ++stream);
    std::vector<float> values(static_cast<std::size_t>(p.shape.count()));
    const bool norm = p.init.kind == nn::Init::Kind::constant && p.init.value == 1;
    // Of a size that leaves scores and activations where rounding is rounding, however wide the model is.
    const double width = p.shape.rank() == 2 ? std::max(8.0, static_cast<double>(p.shape[1])) : 8.0;
    for (float& v : values) v = static_cast<float>((norm ? 1 : 0) + 0.4 * std::sqrt(8 / width) * random.normal());
    if (p.zero_row >= 0) {
      const std::int64_t width = p.shape[1];
      std::fill_n(values.begin() + p.zero_row * width, width, 0.0f);
    }
    m->parameters().set(kern::best(), p, values);
  }
  m->parameters().refresh(kern::best());
  return m;
}

void for_each_family(const std::function<void(const nlohmann::json&)>& test) {
  for (const nlohmann::json& config : testing::small_encoder_decoders()) {
    SCOPED_TRACE(config.dump());
    test(config);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

Tensor logits_of(Context& c, const Model& m, const Batch& b) {
  const Memory memory = m.encode(c, b.source, b.source_rows);
  return logits(c, m, m.decode(c, {.ids = b.target, .rows = b.target_rows, .memory = &memory}));
}

Tensor loss_of(Context& c, const Model& m, const Batch& b) {
  const Memory memory = m.encode(c, b.source, b.source_rows);
  const Tensor hidden = m.decode(c, {.ids = b.target, .rows = b.target_rows, .memory = &memory});
  const OutputProjection out = m.output();
  return ops::projected_cross_entropy(c, hidden, out.weight, out.bias, c.upload(b.target), {.normalizer = 1});
}

// The gradient of each trained weight.
std::vector<std::vector<float>> gradients(Context& c, const Model& m, const Batch& b) {
  Tape tape;
  Grads grads;
  m.parameters().watch(tape);
  c.set_tape(&tape);
  const Tensor loss = loss_of(c, m, b);
  tape.backward(c, loss, c.upload<float>({1.0f}), grads);
  c.set_tape(nullptr);
  std::vector<std::vector<float>> list;
  for (const nn::Parameter& p : m.parameters().all())
    if (p.trainable) {
      const Tensor g = grads.get(p.value);  // none where layers are left out
      list.push_back(g ? host_copy<float>(g) : std::vector<float>(static_cast<std::size_t>(p.shape.count())));
    }
  return list;
}

Batch batch(std::uint64_t seed, std::int64_t tokens = 40) {
  RandomSequence random(seed, 1);
  return testing::random_batch(random, tokens, longest, vocab);
}

// Each weight moved along its own gradient g by +-h: the loss changes by 2 h |g|.
TEST(EncoderDecoder, GradientsAreFiniteDifferences) {
  for_each_family([](const nlohmann::json& config) {
    const auto m = random_model(config);
    const Batch b = batch(1);
    for (const kern::Kernels* kernels : kern::tables()) {
      SCOPED_TRACE(kernels->name);
      Arena arena;
      Context c(arena, *kernels);
      const auto found = gradients(c, *m, b);
      const double loss = host_copy<float>(loss_of(c, *m, b))[0];
      std::size_t i = 0;
      for (nn::Parameter& p : m->parameters().all()) {
        if (!p.trainable) continue;
        const std::vector<float>& g = found[i++];
        double norm = 0;
        for (float x : g) norm += static_cast<double>(x) * static_cast<double>(x);
        norm = std::sqrt(norm);
        if (norm < 1e-3) {  // a bias of keys cancels out in the softmax
          EXPECT_TRUE(p.name.find(".k") != p.name.npos && p.name.ends_with("bias")) << p.name << ": " << norm;
          continue;
        }
        const std::vector<float> before = host_copy<float>(p.value);
        const double h = std::min(0.02, 0.0004 * loss / norm);  // RMS norms of short vectors bend quickly
        const auto at = [&](double step) {
          std::vector<float> moved = before;
          for (std::size_t j = 0; j < moved.size(); ++j) moved[j] += static_cast<float>(step / norm * double(g[j]));
          host_write<float>(p.value, moved);
          m->parameters().refresh(*kernels);
          return static_cast<double>(host_copy<float>(loss_of(c, *m, b))[0]);
        };
        const double slope = (at(h) - at(-h)) / (2 * h);
        EXPECT_NEAR(slope, norm, 1e-2 * norm) << p.name;
        at(0);
      }
    }
  });
}

void expect_near(const std::vector<float>& got, const std::vector<float>& expected, double tolerance) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(got[i], expected[i], tolerance * (1 + std::abs(static_cast<double>(expected[i])))) << i;
}

TEST(EncoderDecoder, ARaggedBatchIsItsRowsOneByOne) {
  for_each_family([](const nlohmann::json& config) {
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
  });
}

// Logits of tokens that come `at_once` at a time, as a decoder with a cache sees them.
std::vector<float> step_by_step(Context& c, const Model& m, const Batch& b, std::int32_t at_once) {
  const Memory memory = m.encode(c, b.source, b.source_rows);
  const auto cache = m.make_cache(c);
  cache->add_rows(b.target_rows.count());
  std::vector<float> all(static_cast<std::size_t>(b.target_rows.tokens()) * vocab);
  for (std::int32_t t = 0; t < b.target_rows.longest(); t += at_once) {
    Rows rows;
    std::vector<std::int32_t> ids;
    for (std::int64_t r = 0; r < b.target_rows.count(); ++r) {  // a row that is at its end adds nothing
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

TEST(EncoderDecoder, TokensAStepEqualAllAtOnce) {
  for_each_family([](const nlohmann::json& config) {
    const auto m = random_model(config);
    for (const kern::Kernels* kernels : kern::tables()) {
      Arena arena;
      Context c(arena, *kernels);
      const Batch b = batch(3, 60);
      const auto all = host_copy<float>(logits_of(c, *m, b));
      for (const std::int32_t at_once : {1, 3}) expect_near(step_by_step(c, *m, b, at_once), all, 1e-4);
    }
  });
}

TEST(EncoderDecoder, GradientCheckpointingChangesNoNumber) {
  for_each_family([](const nlohmann::json& config) {
    const auto m = random_model(config);
    Arena arena;
    Context c(arena);
    c.set_training(true);
    const Batch b = batch(4);
    std::vector<std::vector<float>> found[2];
    for (const bool on : {false, true}) {
      m->set_gradient_checkpointing(on);
      c.set_rng(Rng(8));
      found[on] = gradients(c, *m, b);
    }
    ASSERT_EQ(found[0].size(), found[1].size());
    for (std::size_t i = 0; i < found[0].size(); ++i) expect_near(found[1][i], found[0][i], 1e-5);
  });
}

// The directory for tests/model/check_export.py, which has `transformers` compute the same.
void leave_for_others(const Model& m, Context& c, const std::filesystem::path& root) {
  static int number = 0;
  const auto dir = root / fmt::format("{}_{}", m.family(), ++number);
  save(m, dir);
  const Batch b{{3, 1, 4, 1, 5, 9, 2}, {6, 5, 3, 5, 8}, Rows::rectangle(1, 7), Rows::rectangle(1, 5)};
  // M2M100 counts positions by the tokens that are no padding.
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

// A directory saved is the model that it was, and says so in the same words.
TEST(EncoderDecoder, DirectoriesAreWrittenAndRead) {
  for_each_family([](const nlohmann::json& config) {
    const TemporaryDirectory dir;
    const auto m = random_model(config);
    save(*m, dir.path());
    const auto again = load(dir.path());
    EXPECT_EQ(again->config_json(), m->config_json());
    EXPECT_EQ(again->family(), config.at("model_type"));
    Arena arena;
    Context c(arena);
    if (const char* root = std::getenv("TRIL_EXPORT_DIR")) leave_for_others(*m, c, root);
    const Batch b = batch(7);
    EXPECT_EQ(host_copy<float>(logits_of(c, *again, b)), host_copy<float>(logits_of(c, *m, b)));
  });
}

// The files say whether T5's output is tied, whatever config.json says; in version 4 its `false` also meant that the
// output is not scaled, which mT5's never is.
TEST(EncoderDecoder, T5FilesSayWhetherTheOutputIsTied) {
  for (const bool tied : {false, true}) {
    const TemporaryDirectory dir;
    nlohmann::json config = testing::t5_kin("t5", {{"tie_word_embeddings", tied}});
    save(*random_model(config), dir.path());
    EXPECT_EQ(load(dir.path())->parameters().find("lm_head.weight") == nullptr, tied);
    for (const bool said : {false, true}) {
      config["tie_word_embeddings"] = said;
      std::ofstream(dir.path("config.json")) << config.dump();
      const auto m = load(dir.path());
      EXPECT_EQ(m->parameters().find("lm_head.weight") == nullptr, tied) << said;
      EXPECT_EQ(nlohmann::json::parse(m->config_json()).at("scale_decoder_outputs"), said);
    }
  }
}

// The same weights with fewer bits: nearly the same logits, all at once and step by step.
TEST(EncoderDecoder, ServesWithFewerBits) {
  for_each_family([](nlohmann::json config) {
    config["d_model"] = 64;  // as wide as stacked matrices must be
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
        EXPECT_LT(std::sqrt(error / size), most) << static_cast<int>(precision) << ", " << at_once << " tokens a step";
      }
    }
  });
}

}  // namespace
}  // namespace tril::model
