// GGUF files as llama.cpp's own converter writes them (tests/golden/gguf/converted.json, by make_gguf_converted.py): tril
// writes the same metadata and the same bytes of each tensor, and reads such a file as the model of the directory.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>

#include "base/as_size.h"
#include "base/file.h"
#include "base/hash.h"
#include "format/gguf.h"
#include "format/gguf_write.h"
#include "model_io/exports/gguf_export.h"
#include "model_io/gguf/gguf_config.h"
#include "model_io/source/model_source.h"
#include "model_io/source/registry.h"
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
  for (const auto& [key, value] : changes.items()) {
    if (key == "text_config")
      config[key].update(value);
    else
      config[key] = value;
  }
  write_file_atomic((to / "config.json").string(), config.dump());
}

void export_floats(const ModelSource& source, const std::string& path) {
  const auto m = make(source);
  export_gguf(*m, source.weights(), {.path = path, .type = GgufType::f32, .name = "test", .tokenizer = {}});
}

GgufMetadata metadata_of(const json& entries) {
  GgufMetadata m;
  for (const json& entry : entries) {
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
  return m;
}

// The converter's metadata with the tensors of another file; matrices of one row as they are, or as vectors.
void write_as_converted(const json& metadata, const GgufFile& tensors, const std::string& path,
                        bool rows_as_vectors = false) {
  std::vector<GgufTensorHeader> headers;
  for (const GgufTensor& t : tensors.tensors()) {
    headers.push_back({t.name, t.type, t.shape});
    if (rows_as_vectors && t.shape[0] == 1) headers.back().shape.erase(headers.back().shape.begin());
  }
  GgufWriter writer(path, headers, metadata_of(metadata));
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

// What the converter wrote for each directory.
json converted() {
  return json::parse(read_text(test::test_dir() + "/golden/gguf/converted.json", 1 << 20));
}

std::string hash_in_hex(std::span<const std::byte> bytes) {
  return fmt::format("{:016x}", hash_of({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
}

// Metadata that the converter writes otherwise, or in vain; false: none of this.
bool is_explained(const std::string& key, const json& value, const GgufFile& file) {
  const auto ends = [&](std::initializer_list<const char*> names) {
    return std::ranges::any_of(names, [&](const char* name) { return key.ends_with(name); });
  };
  if (key == "nemotron.attention.layer_norm_rms_epsilon")  // the key that llama.cpp reads
    return value == file.at<double>("nemotron.attention.layer_norm_epsilon");
  if (ends({"rope.dimension_sections"}))  // the converter writes those of heads of 256 for all
    return value_of(file, key, "array/int32") == json({1, 1, 0, 0});
  if (ends({"full_attention_interval"})) return !file.find(key);               // these layers have no interval
  if (ends({"tensor_data_layout"})) return value == "jploski";                 // llama.cpp does not read it
  if (ends({"rope.scaling.type"}) && !file.find(key)) return value == "none";  // the default, which tril does not write
  const bool no_positions = key.starts_with("granitehybrid.") || key.starts_with("nemotron_h");
  if (no_positions && ends({"context_length"})) return value == 1 << 20;  // of every model without positions
  if (no_positions && ends({"rope.dimension_count", "rope.freq_base"})) return !file.find(key);
  if (key.starts_with("granitemoe.ssm.")) return !file.find(key);       // there are no such layers
  if (key == "granitemoe.attention.head_count_kv" && value.is_array())  // one number stands for all layers
    return std::ranges::all_of(value, [&](const json& heads) { return heads == file.at<std::int64_t>(key); });
  if (key == "granitemoe.rope.scaling.finetuned") return value == true;  // llama.cpp does not read it
  if (key == "step35.moe_every_n_layers") return value == 1;             // llama.cpp does not read it
  return false;
}

// Compares a tensor with the converter's; torch's exp, which it uses for the decays of heads, differs in the last bit of some values.
void expect_tensor(const GgufTensor& t, const json& expected) {
  EXPECT_EQ(json(t.shape), expected[0]) << t.name;
  if (expected[1].is_string()) {
    EXPECT_EQ(hash_in_hex(t.bytes), expected[1].get<std::string>()) << t.name;
    return;
  }
  std::vector<float> values(t.bytes.size() / sizeof(float));
  std::memcpy(values.data(), t.bytes.data(), t.bytes.size());
  ASSERT_EQ(values.size(), expected[1].size()) << t.name;
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_FLOAT_EQ(values[i], expected[1][i].get<float>()) << t.name;
}

void expect_near(const std::vector<float>& logits, const std::vector<float>& original, const char* path) {
  ASSERT_EQ(logits.size(), original.size());
  for (std::size_t i = 0; i < logits.size(); ++i) ASSERT_NEAR(logits[i], original[i], 1e-5) << path << " " << i;
}

TEST(GgufConverted, FilesAreThoseOfTheConverter) {
  json families = converted();
  families.erase("bamba");  // has a test of its own
  EXPECT_EQ(families.size(), 53u);
  for (const auto& [name, expected] : families.items()) {
    SCOPED_TRACE(name);
    const TemporaryDirectory directory, files;
    copy_directory(name, expected.at("changes"), directory.path());
    const ModelSource source = ModelSource::open(directory.path());
    export_floats(source, files.path("m.gguf"));
    const GgufFile file = GgufFile::open(files.path("m.gguf"));
    for (const json& entry : expected.at("metadata")) {
      const std::string key = entry[0];
      if (is_explained(key, entry[2], file)) continue;
      if (file.find(key))
        EXPECT_EQ(value_of(file, key, entry[1]), entry[2]) << key;
      else
        ADD_FAILURE() << key << " is missing";
    }
    std::vector<std::string> names;
    for (const GgufTensor& t : file.tensors()) {
      names.push_back(t.name);
      if (!expected.at("tensors").contains(t.name)) continue;
      expect_tensor(t, expected.at("tensors").at(t.name));
    }
    std::vector<std::string> wanted;
    for (const auto& [tensor, unused] : expected.at("tensors").items()) wanted.push_back(tensor);
    EXPECT_EQ(names, wanted);

    write_as_converted(expected.at("metadata"), file, files.path("converted.gguf"));
    const std::vector<float> original = logits_of_prompt(source);
    for (const char* path : {"m.gguf", "converted.gguf"})
      expect_near(logits_of_prompt(ModelSource::open(files.path(path))), original, path);
  }
}

// The values of a tensor with its rows in another order: row i is row order(i).
std::vector<float> with_rows(const GgufTensor& t, const std::function<std::int64_t(std::int64_t)>& order) {
  const std::int64_t width = t.elements() / t.shape[0];
  std::vector<float> values(t.bytes.size() / sizeof(float)), result;
  std::memcpy(values.data(), t.bytes.data(), t.bytes.size());
  for (std::int64_t row = 0; row < t.shape[0]; ++row) {
    const auto from = values.begin() + order(row) * width;
    result.insert(result.end(), from, from + width);
  }
  return result;
}

// llama.cpp's converter pairs the rows of whole heads of bamba, but llama.cpp then rotates the first half alone. tril reads such a
// file as the publisher's model, and writes one that llama.cpp computes rightly.
TEST(GgufConverted, OfBambaTheConverterPairsTheRowsOfWholeHeads) {
  const json expected = converted().at("bamba");
  const TemporaryDirectory directory, files;
  copy_directory("bamba", expected.at("changes"), directory.path());
  const ModelSource source = ModelSource::open(directory.path());
  export_floats(source, files.path("m.gguf"));
  const GgufFile file = GgufFile::open(files.path("m.gguf"));
  const std::vector<float> factors{1.0f, 10.0f, 1e30f, 1e30f};  // theta^(2i/4 - 2i/8)
  ASSERT_EQ(file.tensor("rope_freqs.weight").bytes.size(), factors.size() * sizeof(float));
  EXPECT_EQ(std::memcmp(file.tensor("rope_freqs.weight").bytes.data(), factors.data(), 16), 0);

  // Heads have 8 rows, of which 4 are rotated. HF's row of each of tril's rows, and of each of the converter's.
  constexpr std::array<std::int64_t, 8> ours{0, 2, 1, 3, 4, 5, 6, 7}, theirs{0, 4, 1, 5, 2, 6, 3, 7};
  const auto as_converted = [&](std::int64_t row) {
    const auto at = std::ranges::find(ours, theirs[as_size(row % 8)]) - ours.begin();
    return row / 8 * 8 + at;
  };
  std::vector<GgufTensorHeader> headers;
  std::map<std::string, std::vector<float>> values;
  for (const GgufTensor& t : file.tensors()) {
    if (t.name == "rope_freqs.weight") continue;
    headers.push_back({t.name, t.type, t.shape});
    const bool rotated = t.name.ends_with("attn_q.weight") || t.name.ends_with("attn_k.weight");
    values[t.name] = with_rows(t, [&](std::int64_t row) { return rotated ? as_converted(row) : row; });
    const json& tensor = expected.at("tensors").at(t.name);
    if (tensor[1].is_string()) {
      EXPECT_EQ(hash_in_hex(std::as_bytes(std::span(values[t.name]))), tensor[1].get<std::string>()) << t.name;
    }
  }
  EXPECT_EQ(headers.size(), expected.at("tensors").size());
  GgufWriter writer(files.path("converted.gguf"), headers, metadata_of(expected.at("metadata")));
  for (const GgufTensorHeader& h : headers) writer.write(h.name, std::as_bytes(std::span(values[h.name])));
  writer.commit();
  const std::vector<float> original = logits_of_prompt(source);
  for (const char* path : {"m.gguf", "converted.gguf"}) {
    const ModelSource again = ModelSource::open(files.path(path));
    EXPECT_EQ(load(again)->family(), "bamba");
    expect_near(logits_of_prompt(again), original, path);
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
  const json expected = converted().at("qwen2_moe");
  const TemporaryDirectory directory, files;
  copy_directory("qwen2_moe", json::object(), directory.path());
  const ModelSource source = ModelSource::open(directory.path());
  export_floats(source, files.path("m.gguf"));
  write_as_converted(expected.at("metadata"), GgufFile::open(files.path("m.gguf")), files.path("vector.gguf"), true);
  EXPECT_EQ(logits_of_prompt(ModelSource::open(files.path("vector.gguf"))), logits_of_prompt(source));
}

}  // namespace
}  // namespace tril::model
