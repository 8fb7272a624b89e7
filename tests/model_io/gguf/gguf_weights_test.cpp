// GGUF files as models: an exported directory is read back as the same model, for every family with an architecture;
// and files that are no model are refused by name.
#include "model_io/gguf/gguf_weights.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iostream>

#include "base/file.h"
#include "model_io/contents/generation_config.h"
#include "model_io/exports/gguf_export.h"
#include "model_io/exports/quantize.h"
#include "model_io/gguf/gguf_config.h"
#include "model_io/gguf/gguf_header.h"
#include "model_io/gguf/gguf_keys.h"
#include "model_io/gguf/gguf_tensors.h"
#include "model_io/source/model_source.h"
#include "model_io/source/registry.h"
#include "support/golden.h"
#include "support/paths.h"
#include "support/raw_gguf.h"
#include "support/small_decoders.h"
#include "support/temporary.h"

namespace tril::model {
namespace {

namespace fs = std::filesystem;
using test::raw;
using test::raw_entry;
using test::raw_text;

std::vector<float> logits_of(const Model& m, const std::vector<std::int32_t>& ids) {
  Arena arena;
  Context c(arena, kern::best());
  const Rows rows = Rows::of_lengths(std::vector<std::int32_t>{static_cast<std::int32_t>(ids.size())});
  return host_copy<float>(logits(c, m, m.decode(c, {.ids = ids, .rows = rows})));
}

// Directories of decoders for which llama.cpp has an architecture.
std::vector<fs::path> directories() {
  std::vector<fs::path> found;
  for (const fs::path& d : test::golden_model_directories("decoder-only"))
    if (!gguf_architecture(make(ModelSource::open(d))->family()).empty()) found.push_back(d);
  return found;
}

std::string export_to(const TemporaryDirectory& to, const fs::path& directory, GgufType type) {
  const std::string path = to.path("model.gguf");
  const auto m = make(ModelSource::open(directory));
  export_gguf(*m, ModelSource::open(directory.string()).weights(),
              {.path = path, .type = type, .name = "test", .tokenizer = {}});
  return path;
}

double distance(const std::vector<float>& a, const std::vector<float>& b) {
  EXPECT_EQ(a.size(), b.size());
  double most = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) most = std::max(most, std::fabs(double{a[i]} - b[i]));
  return most;
}

const std::vector<std::int32_t> kIds{1, 17, 5, 99, 42, 42, 3, 77};

TEST(GgufWeights, AFileOfFloatsIsTheModelThatItWasMadeOf) {
  int models = 0;
  for (const fs::path& directory : directories()) {
    SCOPED_TRACE(directory.string());
    const TemporaryDirectory to;
    std::string path;
    try {
      path = export_to(to, directory, GgufType::f32);
    } catch (const Error& e) {  // windows and other features that llama.cpp lacks
      std::cout << directory.filename() << " is refused: " << e.what() << "\n";
      EXPECT_EQ(e.kind(), ErrorKind::usage);
      continue;
    }
    ++models;
    const auto original = load(ModelSource::open(directory)), again = load(ModelSource::open(path));
    // Norms that are stored plus one are rounded once more.
    EXPECT_LT(distance(logits_of(*again, kIds), logits_of(*original, kIds)), 1e-5);
    // Gate and up of an expert are one matrix in some directories, and two in every file.
    if (original->family() != "qwen3_5_moe_text") {
      EXPECT_EQ(again->parameters().names(), original->parameters().names());
    }
    EXPECT_EQ(again->parameters().count(), original->parameters().count());
  }
  EXPECT_TRUE(test::other_golden_directory() || models > 0);
}

TEST(GgufWeights, FewerBitsAreNear) {
  // The largest change that each type may cause in four layers, relative to the logits' spread: matrices of 48 columns are F16
  // for blocks of 32.
  for (const auto& [type, share] :
       {std::pair{GgufType::f16, 0.01}, {GgufType::bf16, 0.05}, {GgufType::q8_0, 0.05}, {GgufType::q4_0, 0.8}})
    for (const fs::path& directory : directories()) {
      SCOPED_TRACE(directory.string() + " as " + std::string(name_of(type)));
      const TemporaryDirectory to;
      std::string path;
      try {
        path = export_to(to, directory, type);
      } catch (const Error&) {
        continue;
      }
      const std::vector<float> expected = logits_of(*load(ModelSource::open(directory)), kIds),
                               got = logits_of(*load(ModelSource::open(path)), kIds);
      const auto [least, most] = std::minmax_element(expected.begin(), expected.end());
      const nlohmann::json config = nlohmann::json::parse(make(ModelSource::open(path))->config_json());
      const double layers = std::max(4.0, static_cast<double>(layers_of(config)));
      EXPECT_LT(distance(got, expected), share * layers / 4 * (*most - *least));
    }
}

// Matrices that are served in their blocks (rows in another order, several experts and matrices of two tensors among them) have
// the values of the file: only the 8 bits of activations change the logits.
TEST(GgufWeights, BlocksAreServedAsTheyAre) {
  int models = 0;
  for (const GgufType type : {GgufType::q8_0, GgufType::q4_0})
    for (const fs::path& directory : directories()) {
      SCOPED_TRACE(directory.string() + " as " + std::string(name_of(type)));
      const TemporaryDirectory to;
      try {
        export_to(to, directory, type);
      } catch (const Error&) {  // a feature that llama.cpp lacks
        continue;
      }
      const ModelSource source = ModelSource::open(to.path("model.gguf"));
      if (source.stored_precision() != nn::Precision::blocks) continue;  // of odd widths: F16
      ++models;
      const auto floats = load(source, nn::Precision::fp32), blocks = load(source, nn::Precision::blocks);
      int served = 0;
      for (const nn::Parameter& p : blocks->parameters().all())
        served += p.quantized && p.quantized.format != kern::BlockFormat::none ? 1 : 0;
      EXPECT_GT(served, 0);
      EXPECT_LT(blocks->parameters().serving_bytes(nn::Precision::blocks),
                floats->parameters().serving_bytes(nn::Precision::fp32));
      const std::vector<float> expected = logits_of(*floats, kIds), got = logits_of(*blocks, kIds);
      const auto [least, most] = std::minmax_element(expected.begin(), expected.end());
      // As for Q8_0 weights in FewerBitsAreNear, whose rounding is of the same kind.
      const nlohmann::json config = nlohmann::json::parse(make(source)->config_json());
      const double layers = std::max(4.0, static_cast<double>(layers_of(config)));
      EXPECT_LT(distance(got, expected), 0.05 * layers / 4 * (*most - *least));
    }
  EXPECT_TRUE(test::other_golden_directory() || models > 0);
}

TEST(GgufWeights, OnlyAFileOfBlocksIsServedInBlocks) {
  const TemporaryDirectory to;
  const fs::path llama = test::test_dir() + "/golden/hf/llama";
  for (const std::string& path : {llama.string(), export_to(to, llama, GgufType::f32)}) {
    try {
      load(ModelSource::open(path), nn::Precision::blocks);
      FAIL() << path;
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::usage);
      EXPECT_NE(std::string(e.what()).find("blocks"), std::string::npos);
    }
  }
}

// The block types of llama.cpp's Q4_K_M: transformers, which decodes them with the gguf package, has the same logits
// and the same most probable tokens.
TEST(GgufWeights, AFileOfSuperBlocksIsWhatOthersMakeOfIt) {
  const std::string folder = test::test_dir() + "/golden/gguf/";
  const auto expected = nlohmann::json::parse(read_text(folder + "model_q4_k.json", 1 << 20));
  EXPECT_EQ(ModelSource::open(folder + "model_q4_k.gguf").stored_precision(), nn::Precision::blocks);
  const auto m = load(ModelSource::open(folder + "model_q4_k.gguf"), nn::Precision::fp32);
  auto ids = expected["ids"].get<std::vector<std::int32_t>>();
  const auto wanted = expected["logits"].get<std::vector<float>>();
  const auto last = [&] {
    const std::vector<float> all = logits_of(*m, ids);
    return std::vector<float>(all.end() - m->vocab_size(), all.end());
  };
  EXPECT_LT(distance(last(), wanted), 1e-4);
  for (const auto& token : expected["greedy"]) {
    const std::vector<float> now = last();
    const auto likeliest = static_cast<std::int32_t>(std::max_element(now.begin(), now.end()) - now.begin());
    ASSERT_EQ(likeliest, token.get<std::int32_t>());
    ids.push_back(likeliest);
  }
}

TEST(GgufWeights, RowsOfRotatedHeadsComeBack) {
  // Two heads of 6 rows: a pair (i, i + 3) is adjacent.
  std::vector<std::int64_t> rows;
  for (std::int64_t r = 0; r < 12; ++r) rows.push_back(unrotated_row(r, 6));
  EXPECT_EQ(rows, (std::vector<std::int64_t>{0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11}));
}

// A gpt2 of one layer, to be damaged.
class GgufModelFile : public ::testing::Test {
 protected:
  GgufModelFile() {
    text_key("general.architecture", "gpt2");
    for (const auto& [key, value] : {std::pair{"context_length", 8u},
                                     {"embedding_length", 4u},
                                     {"block_count", 1u},
                                     {"attention.head_count", 2u},
                                     {"feed_forward_length", 8u}})
      number_key(std::string("gpt2.") + key, value);
    file.entries.push_back(raw_entry("gpt2.attention.layer_norm_epsilon", 6, raw(1e-5f)));
    tensor("token_embd.weight", {4, 11});
    tensor("position_embd.weight", {4, 8});
    for (const char* norm : {"output_norm", "blk.0.attn_norm", "blk.0.ffn_norm"}) {
      tensor(std::string(norm) + ".weight", {4});
      tensor(std::string(norm) + ".bias", {4});
    }
    for (const auto& [name, in, out] :
         {std::tuple{"attn_qkv", 4, 12}, {"attn_output", 4, 4}, {"ffn_up", 4, 8}, {"ffn_down", 8, 4}}) {
      tensor(fmt::format("blk.0.{}.weight", name), {static_cast<std::uint64_t>(in), static_cast<std::uint64_t>(out)});
      tensor(fmt::format("blk.0.{}.bias", name), {static_cast<std::uint64_t>(out)});
    }
  }
  void text_key(const std::string& key, const std::string& value) {
    file.entries.push_back(raw_entry(key, 8, raw_text(value)));
  }
  void number_key(const std::string& key, std::uint32_t value) {
    file.entries.push_back(raw_entry(key, 4, raw(value)));
  }
  void tensor(const std::string& name, const std::vector<std::uint64_t>& dims) {
    std::size_t values = 1;
    for (const std::uint64_t n : dims) values *= n;
    file.tensors.push_back(test::raw_tensor(name, dims, 0, file.data.size()));
    for (std::size_t i = 0; i < values; ++i) file.data += raw(0.01f * static_cast<float>(i % 7));
    file.data.append((32 - file.data.size() % 32) % 32, '\0');
  }
  std::string put() const { return directory.write("m.gguf", file.bytes()); }
  void expect_error(const std::string& part) const {
    try {
      load(ModelSource::open(put()));
      ADD_FAILURE() << "accepted; expected an error with " << part;
    } catch (const Error& e) {
      EXPECT_TRUE(contains(e.what(), part));
    }
  }

  TemporaryDirectory directory;
  test::RawGguf file;
};

TEST_F(GgufModelFile, IsAModelLikeAnyOther) {
  const auto m = load(ModelSource::open(put()));
  EXPECT_EQ(m->family(), "gpt2");
  EXPECT_EQ(m->vocab_size(), 11);
  EXPECT_EQ(m->max_positions(), 8);
  EXPECT_EQ(ModelSource::open(put()).stored_precision(), nn::Precision::fp32);
  EXPECT_TRUE(ModelSource::open(put()).generation().eos_token_ids.empty());
  const TemporaryDirectory to;
  quantize(ModelSource::open(put()), to.path(), 8);
  EXPECT_EQ(load(ModelSource::open(to.path()), nn::Precision::int8)->vocab_size(), 11);
  const TemporaryDirectory other;
  save(*m, other.path());
  EXPECT_EQ(logits_of(*load(ModelSource::open(other.path())), {1, 2, 3}), logits_of(*m, {1, 2, 3}));
}

TEST_F(GgufModelFile, SaysWhatEndsATextAndHowToSample) {
  number_key("tokenizer.ggml.bos_token_id", 1);
  number_key("tokenizer.ggml.eos_token_id", 2);
  number_key("tokenizer.ggml.eot_token_id", 5);
  number_key("tokenizer.ggml.padding_token_id", 0xffffffff);
  text_key("tokenizer.ggml.model", "gpt2");
  std::string tokens, types;
  for (int i = 0; i < 11; ++i) {
    tokens += raw_text(i == 7 ? "<|im_end|>" : i == 8 ? "<|end|>" : "x");
    types += raw(i == 7 ? 3 : 1);  // the other is an ordinary token
  }
  file.entries.push_back(raw_entry("tokenizer.ggml.tokens", 9, raw(8u) + raw<std::uint64_t>(11) + tokens));
  file.entries.push_back(raw_entry("tokenizer.ggml.token_type", 9, raw(5u) + raw<std::uint64_t>(11) + types));
  file.entries.push_back(raw_entry("general.sampling.temp", 6, raw(0.5f)));
  file.entries.push_back(raw_entry("general.sampling.top_k", 5, raw(40)));
  const GenerationConfig g = ModelSource::open(put()).generation();
  EXPECT_EQ(g.eos_token_ids, (std::vector<std::int32_t>{2, 5, 7}));
  EXPECT_EQ(g.bos_token_id, 1);
  EXPECT_FALSE(g.pad_token_id);
  EXPECT_EQ(g.search.sampling, true);
  EXPECT_EQ(g.search.temperature, 0.5);
  EXPECT_EQ(g.search.top_k, 40);
  EXPECT_EQ(load(ModelSource::open(put()))->special_ids().eos, 2);
}

TEST_F(GgufModelFile, WhatChangesResultsAndIsNotKnownIsRefused) {
  const test::RawGguf whole = file;
  const auto with = [&](const std::string& key, std::uint32_t value, const std::string& error) {
    file = whole;
    number_key(key, value);
    expect_error(error);
  };
  with("gpt2.attention.max_alibi_bias", 8, "attention.max_alibi_bias");
  with("gpt2.expert_count", 4, "gpt2.expert_count");
  with("split.count", 3, "split.no");
  with("tokenizer.ggml.eos_token_id", 11, "11 is not a valid id");
  with("gpt2.embeding_length", 4, "did you mean gpt2.embedding_length");
  file = whole;
  number_key("gpt2.expert_count", 0);
  number_key("other.key", 5);
  EXPECT_NO_THROW(load(ModelSource::open(put())));
  file = whole;
  text_key("general.type", "adapter");
  expect_error("expected a model");
  file = whole;
  file.entries[0] = raw_entry("general.architecture", 8, raw_text("mamba"));
  expect_error("'mamba' is not supported");
  file = whole;
  file.entries.erase(file.entries.begin() + 1);
  expect_error("has no key gpt2.context_length");
  file = whole;
  tensor("blk.0.ffn_gate.weight", {4, 8});
  expect_error("no gpt2 model of 1 layers has such a tensor");
  file = whole;
  tensor("blk.1.ffn_up.weight", {4, 8});
  expect_error("blk.1.ffn_up.weight");
}

// The config.json of a llama file's rotary positions.
nlohmann::json rope_of(const std::vector<std::pair<std::string, float>>& numbers, const std::string& type = "") {
  test::RawGguf file;
  file.entries.push_back(raw_entry("general.architecture", 8, raw_text("llama")));
  for (const auto& [key, value] : {std::pair{"context_length", 8u},
                                   {"embedding_length", 4u},
                                   {"block_count", 1u},
                                   {"attention.head_count", 2u},
                                   {"feed_forward_length", 8u}})
    file.entries.push_back(raw_entry(std::string("llama.") + key, 4, raw(value)));
  file.entries.push_back(raw_entry("llama.attention.layer_norm_rms_epsilon", 6, raw(1e-5f)));
  for (const auto& [key, value] : numbers) file.entries.push_back(raw_entry("llama." + key, 6, raw(value)));
  if (!type.empty()) file.entries.push_back(raw_entry("llama.rope.scaling.type", 8, raw_text(type)));
  file.tensors.push_back(test::raw_tensor("token_embd.weight", {4, 11}, 0, 0));
  file.data.append(4 * 4 * 11 + 16, '\0');
  const TemporaryDirectory directory;
  const nlohmann::json config = config_of_gguf(GgufFile::open(directory.write("m.gguf", file.bytes())));
  return config.value("rope_scaling", nlohmann::json());
}

TEST(GgufRope, AFactorWithoutAKindIsLinear) {
  const nlohmann::json by_4{{"rope_type", "linear"}, {"factor", 4.0}}, none;
  EXPECT_EQ(rope_of({}), none);
  EXPECT_EQ(rope_of({{"rope.scaling.factor", 4}}), by_4);
  EXPECT_EQ(rope_of({{"rope.scaling.factor", 4}}, "linear"), by_4);
  EXPECT_EQ(rope_of({{"rope.scaling.factor", 4}}, "none"), none);
  EXPECT_EQ(rope_of({{"rope.scale_linear", 4}}), by_4);
  EXPECT_EQ(rope_of({{"rope.scale_linear", 4}}, "none"), none);
  EXPECT_EQ(rope_of({{"rope.scaling.factor", 4}, {"rope.scale_linear", 2}}), by_4) << "the new key counts";
  EXPECT_EQ(rope_of({{"rope.scaling.factor", 0}, {"rope.scale_linear", 2}}), none);
  EXPECT_EQ(rope_of({{"rope.scale_linear", 4}}, "yarn").at("factor"), 4.0);
  EXPECT_TRUE(contains(error_of([] { rope_of({{"rope.scaling.factor", -1}}); }), "-1 is not a positive number"));
  EXPECT_TRUE(contains(error_of([] { rope_of({}, "\x1b[31m"); }), "'\\x1B[31m' is not supported"));
}

TEST(GgufExport, SaysWhereAWindowIsSwitchedOff) {
  const auto warning = [](const nlohmann::json& more) {
    const nlohmann::json config = testing::llama_variant("phi3", more);
    return gguf_header_of(nlohmann::json::parse(make(JsonObject(config, "config.json"))->config_json())).warning;
  };
  EXPECT_EQ(warning(nlohmann::json::object()), "");
  EXPECT_EQ(warning({{"sliding_window", 16}}), "") << "no text is longer";
  EXPECT_TRUE(contains(warning({{"sliding_window", 15}}), "beyond 15 tokens its results differ"));
}

TEST_F(GgufModelFile, TensorsThatDoNotFitTheMetadataAreRefused) {
  const test::RawGguf whole = file;
  for (const auto& [at, value] : {std::pair{2, 8u}, {3, 2u}, {5, 16u}, {1, 16u}}) {
    file = whole;
    std::string& entry = file.entries[static_cast<std::size_t>(at)];
    entry.replace(entry.size() - 4, 4, raw(value));
    try {
      load(ModelSource::open(put()));
      ADD_FAILURE() << "entry " << at << " is accepted";
    } catch (const Error& e) {
      const std::string text = e.what();
      EXPECT_EQ(text.find(directory.path()), 0u) << text;
      for (const char* of_others :
           {"config.json", " n_embd", "n_head", "n_inner", "n_positions", "transformer.", "wte", "mlp."})
        EXPECT_FALSE(contains(text, of_others)) << text;
    }
  }
  for (const std::uint32_t layers : {0u, 1001u, 0xffffffffu}) {
    file = whole;
    file.entries[3] = raw_entry("gpt2.block_count", 4, raw(layers));
    expect_error("gpt2.block_count");
  }
}

}  // namespace
}  // namespace tril::model
