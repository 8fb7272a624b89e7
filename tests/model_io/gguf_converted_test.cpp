// GGUF files as llama.cpp's own converter writes them (tests/golden/gguf/converted.json, by make_gguf_converted.py): tril
// writes the same metadata and the same bytes of each tensor, and reads such a file as the model of the directory.
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>

#include "base/file.h"
#include "base/hash.h"
#include "format/gguf.h"
#include "format/gguf_write.h"
#include "model_io/gguf_config.h"
#include "model_io/gguf_export.h"
#include "model_io/model_source.h"
#include "model_io/registry.h"
#include "support/error_of.h"
#include "support/golden.h"
#include "support/paths.h"
#include "support/temporary.h"

namespace tril::model {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const std::vector<std::int32_t> kPrompt{1, 17, 5, 99, 42, 42, 3, 77};

std::vector<float> logits_of_prompt(const ModelSource& source) {
  const auto m = load(source);
  Arena arena;
  Context c(arena, kern::best());
  const Rows rows = Rows::of_lengths(std::vector<std::int32_t>{static_cast<std::int32_t>(kPrompt.size())});
  return host_copy<float>(logits(c, *m, m->decode(c, {.ids = kPrompt, .rows = rows})));
}

// A directory of hf/ with the changes of its config.json that the converter was given.
void copy_directory(const std::string& name, const json& changes, const fs::path& to) {
  const fs::path from = fs::path(test::test_dir()) / "golden/hf" / name;
  fs::copy_file(from / "model.safetensors", to / "model.safetensors");
  json config = json::parse(read_text((from / "config.json").string(), 1 << 20));
  config.update(changes);
  write_file_atomic((to / "config.json").string(), config.dump());
}

void export_floats(const ModelSource& source, const std::string& path) {
  const auto m = make(source);
  export_gguf(*m, source.weights(), {.path = path, .type = GgufType::f32, .name = "test", .tokenizer = {}});
}

// The converter's metadata with the tensors of another file; matrices of one row as they are, or as vectors.
void write_as_converted(const json& metadata, const GgufFile& tensors, const std::string& path,
                        bool rows_as_vectors = false) {
  GgufMetadata m;
  for (const json& entry : metadata) {
    const std::string key = entry[0], type = entry[1];
    if (type == "array/bool")
      m.add(key, entry[2].get<std::vector<bool>>());
    else if (type == "bool")
      m.add(key, entry[2].get<bool>());
    else if (type == "array/int32")
      m.add(key, entry[2].get<std::vector<std::int32_t>>());
    else if (type == "array/float32")
      m.add(key, entry[2].get<std::vector<float>>());
    else if (type == "uint32")
      m.add(key, entry[2].get<std::uint32_t>());
    else if (type == "float32")
      m.add(key, entry[2].get<float>());
    else
      m.add(key, entry[2].get<std::string>());
  }
  std::vector<GgufTensorHeader> headers;
  for (const GgufTensor& t : tensors.tensors()) {
    headers.push_back({t.name, t.type, t.shape});
    if (rows_as_vectors && t.shape[0] == 1) headers.back().shape.erase(headers.back().shape.begin());
  }
  GgufWriter writer(path, headers, m);
  for (const GgufTensor& t : tensors.tensors()) writer.write(t.name, t.bytes);
  writer.commit();
}

json value_of(const GgufFile& f, const std::string& key, const std::string& type) {
  if (type == "uint32") return f.at<std::int64_t>(key);
  if (type == "float32") return f.at<double>(key);
  if (type == "bool") return f.at<bool>(key);
  if (type == "array/int32") return *f.get<std::vector<std::int64_t>>(key);
  if (type == "array/float32") return *f.get<std::vector<double>>(key);
  if (type == "array/bool") return *f.get<std::vector<bool>>(key);
  return std::string(f.at<std::string_view>(key));
}

TEST(GgufConverted, FilesAreThoseOfTheConverter) {
  const std::string golden = test::test_dir() + "/golden/gguf/converted.json";
  const json families = json::parse(read_text(golden, 1 << 20));
  EXPECT_EQ(families.size(), 47u);
  for (const auto& [name, expected] : families.items()) {
    SCOPED_TRACE(name);
    const TemporaryDirectory directory, files;
    copy_directory(name, expected.at("changes"), directory.path());
    const ModelSource source = ModelSource::open(directory.path());
    export_floats(source, files.path("m.gguf"));
    const GgufFile file = GgufFile::open(files.path("m.gguf"));
    for (const json& entry : expected.at("metadata")) {
      const std::string key = entry[0];
      if (key == "nemotron.attention.layer_norm_rms_epsilon")
        EXPECT_EQ(entry[2], file.at<double>("nemotron.attention.layer_norm_epsilon")) << "the key that llama.cpp reads";
      else if (key.ends_with("rope.dimension_sections"))  // the converter writes those of heads of 256 for all
        EXPECT_EQ(value_of(file, key, entry[1]), json({1, 1, 0, 0}));
      else if (key.ends_with("full_attention_interval"))
        EXPECT_FALSE(file.find(key)) << "these layers have no interval";
      else if (key.ends_with("tensor_data_layout"))
        EXPECT_EQ(entry[2], "jploski") << "llama.cpp does not read it";
      else if (key == "granitehybrid.context_length")
        EXPECT_EQ(entry[2], 1 << 20) << "of every model without positions";
      else if (key == "granitehybrid.rope.dimension_count" || key == "granitehybrid.rope.freq_base")
        EXPECT_FALSE(file.find(key)) << "there are no positions";
      else if (key.ends_with("rope.scaling.type") && !file.find(key))
        EXPECT_EQ(entry[2], "none") << "the default, which tril does not write";
      else if (file.find(key))
        EXPECT_EQ(value_of(file, key, entry[1]), entry[2]) << key;
      else
        ADD_FAILURE() << key << " is missing";
    }
    std::vector<std::string> names;
    for (const GgufTensor& t : file.tensors()) {
      names.push_back(t.name);
      if (!expected.at("tensors").contains(t.name)) continue;
      const json& tensor = expected.at("tensors").at(t.name);
      EXPECT_EQ(json(t.shape), tensor[0]) << t.name;
      const std::string_view bytes(reinterpret_cast<const char*>(t.bytes.data()), t.bytes.size());
      if (t.name.ends_with("ssm_a") && t.shape.size() == 2)
        continue;  // torch's exp differs in the last bit of some values
      EXPECT_EQ(fmt::format("{:016x}", hash_of(bytes)), tensor[1]) << t.name;
    }
    std::vector<std::string> wanted;
    for (const auto& [tensor, unused] : expected.at("tensors").items()) wanted.push_back(tensor);
    EXPECT_EQ(names, wanted);

    write_as_converted(expected.at("metadata"), file, files.path("converted.gguf"));
    const std::vector<float> original = logits_of_prompt(source);
    for (const char* path : {"m.gguf", "converted.gguf"}) {
      const std::vector<float> again = logits_of_prompt(ModelSource::open(files.path(path)));
      ASSERT_EQ(again.size(), original.size());
      for (std::size_t i = 0; i < again.size(); ++i) ASSERT_NEAR(again[i], original[i], 1e-5) << path << " " << i;
    }
  }
}

// A gemma3 of 12 layers: the metadata of its windows, and config.json's layer types, w for a window and f for full attention.
std::string layers_with_windows(const std::function<void(GgufMetadata&)>& add) {
  GgufMetadata m;
  m.add("general.architecture", "gemma3");
  for (const auto& [key, value] : {std::pair{"context_length", 64u},
                                   {"embedding_length", 8u},
                                   {"block_count", 12u},
                                   {"feed_forward_length", 8u},
                                   {"attention.head_count", 2u}})
    m.add(std::string("gemma3.") + key, value);
  m.add("gemma3.attention.layer_norm_rms_epsilon", 1e-6f);
  add(m);
  const TemporaryDirectory directory;
  GgufWriter writer(directory.path("m.gguf"), {{"token_embd.weight", GgufType::f32, {4, 8}}}, m);
  const std::vector<float> zeros(32);
  writer.write("token_embd.weight", std::as_bytes(std::span(zeros)));
  writer.commit();
  const json config = config_of_gguf(GgufFile::open(directory.path("m.gguf")));
  std::string layers;
  for (const json& type : config.at("layer_types")) layers += type == "sliding_attention" ? 'w' : 'f';
  return layers;
}

TEST(GgufConverted, LayersWithAWindow) {
  const auto with = [](std::uint32_t pattern) {
    return layers_with_windows([=](GgufMetadata& m) {
      m.add("gemma3.attention.sliding_window", 8u);
      m.add("gemma3.attention.sliding_window_pattern", pattern);
    });
  };
  EXPECT_EQ(layers_with_windows([](GgufMetadata& m) { m.add("gemma3.attention.sliding_window", 8u); }), "wwwwwfwwwwwf");
  EXPECT_EQ(layers_with_windows([](GgufMetadata&) {}), "ffffffffffff");
  EXPECT_EQ(with(0), "wwwwwwwwwwww");
  EXPECT_EQ(with(1), "ffffffffffff");
  EXPECT_EQ(with(4), "wwwfwwwfwwwf");
  const auto with_list = [](const std::vector<bool>& slides) {
    return layers_with_windows([&](GgufMetadata& m) {
      m.add("gemma3.attention.sliding_window", 8u);
      m.add("gemma3.attention.sliding_window_pattern", slides);
    });
  };
  EXPECT_EQ(with_list({0, 1, 1, 0, 0, 1, 0, 1, 0, 0, 0, 1}), "fwwffwfwfffw");
  EXPECT_TRUE(contains(error_of([&] { with_list({true, false}); }), "has 2 values for 12 layers"));
}

TEST(GgufConverted, WhatLlamaCppDoesNotComputeIsRefused) {
  for (const auto& [name, change] : {std::pair{"smollm3", json{{"no_rope_layers", {0, 1}}}},
                                     {"qwen3_moe", json{{"norm_topk_prob", false}}},
                                     {"olmoe", json{{"norm_topk_prob", true}}},
                                     {"olmoe", json{{"clip_qkv", 8.0}}},
                                     {"arcee", json{{"hidden_act", "silu"}}},
                                     {"starcoder2", json{{"sliding_window", 4}}},
                                     {"nemotron", json{{"hidden_act", "silu"}}},
                                     {"gemma3_text", json{{"query_pre_attn_scalar", 24}}}}) {
    SCOPED_TRACE(std::string(name) + " with " + change.dump());
    const TemporaryDirectory directory, files;
    copy_directory(name, change, directory.path());
    try {
      export_floats(ModelSource::open(directory.path()), files.path("m.gguf"));
      ADD_FAILURE() << "is written";
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::usage);
      EXPECT_TRUE(contains(e.what(), change.begin().key())) << e.what();
    }
  }
}

// llama.cpp's own tools drop the first size of the gate [1, width] of the shared expert.
TEST(GgufConverted, TheGateOfASharedExpertMayBeAVector) {
  const json expected =
      json::parse(read_text(test::test_dir() + "/golden/gguf/converted.json", 1 << 20)).at("qwen2_moe");
  const TemporaryDirectory directory, files;
  copy_directory("qwen2_moe", json::object(), directory.path());
  const ModelSource source = ModelSource::open(directory.path());
  export_floats(source, files.path("m.gguf"));
  write_as_converted(expected.at("metadata"), GgufFile::open(files.path("m.gguf")), files.path("vector.gguf"), true);
  EXPECT_EQ(logits_of_prompt(ModelSource::open(files.path("vector.gguf"))), logits_of_prompt(source));
}

}  // namespace
}  // namespace tril::model
