// Directories of Medusa heads: written and read again, published forms, and what is refused.
#include "model_io/adapters/medusa_files.h"

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <nlohmann/json.hpp>

#include "format/safetensors_write.h"
#include "model_io/source/directory_reader.h"
#include "model_io/source/registry.h"
#include "support/contains.h"
#include "support/error_of.h"
#include "support/random_heads.h"
#include "support/temporary.h"

namespace tril::model::medusa_test {
namespace {

using Shapes = std::map<std::string, std::vector<std::int64_t>>;

Shapes shapes_of(std::int64_t heads, std::int64_t layers, std::int64_t d, std::int64_t vocab) {
  Shapes shapes;
  for (std::int64_t k = 0; k < heads; ++k) {
    for (std::int64_t l = 0; l < layers; ++l) {
      shapes[fmt::format("{}.{}.linear.weight", k, l)] = {d, d};
      shapes[fmt::format("{}.{}.linear.bias", k, l)] = {d};
    }
    if (vocab > 0) shapes[fmt::format("{}.{}.weight", k, layers)] = {vocab, d};
  }
  return shapes;
}

// Value i of a tensor is i / 8, from 0 to 15.
void write_file(const std::string& path, const Shapes& shapes) {
  std::deque<std::vector<float>> values;
  std::vector<WeightView> tensors;
  for (const auto& [name, shape] : shapes) {
    std::size_t n = 1;
    for (const std::int64_t size : shape) n *= static_cast<std::size_t>(size);
    std::vector<float>& v = values.emplace_back(n);
    for (std::size_t i = 0; i < n; ++i) v[i] = static_cast<float>(i % 16) / 8;
    tensors.push_back({name, StoredType::f32, shape, std::as_bytes(std::span(v))});
  }
  write_safetensors(path, tensors, {{"format", "pt"}});
}

std::unique_ptr<Model> a_model(std::int64_t d_model) {
  const nlohmann::json config{{"model_type", "llama"},        {"vocab_size", 60},       {"hidden_size", d_model},
                              {"intermediate_size", d_model}, {"num_hidden_layers", 1}, {"num_attention_heads", 4}};
  std::unique_ptr<Model> m = make(JsonObject(config, "config.json"));
  m->parameters().allocate();
  return m;
}

void write_config(const TemporaryDirectory& dir, std::int64_t heads, std::int64_t layers) {
  dir.write("config.json", nlohmann::json{{"medusa_num_heads", heads},
                                          {"medusa_num_layers", layers},
                                          {"base_model_name_or_path", "lmsys/vicuna-7b-v1.3"},
                                          {"transformers_version", "4.34.0"}}
                               .dump());
}

TEST(MedusaFiles, AreReadInThePublishedForm) {
  for (const std::int64_t vocab : {0, 60}) {
    const TemporaryDirectory dir;
    write_config(dir, 2, 1);
    write_file(dir.path("medusa_lm_head.safetensors"), shapes_of(5, 1, 48, vocab));
    EXPECT_TRUE(is_medusa_directory(dir.path("")));
    const MedusaFiles files = MedusaFiles::open(dir.path(""));
    EXPECT_EQ(files.sizes().heads, 5) << "the file has more than its config says";
    EXPECT_EQ(files.sizes().layers, 1);
    EXPECT_EQ(files.sizes().d_model, 48);
    EXPECT_EQ(files.sizes().own_vocab, vocab);
    EXPECT_EQ(files.base_model(), "lmsys/vicuna-7b-v1.3");
    EXPECT_EQ(files.parameters(), 5 * (48 * 49 + 48 * vocab));
    const auto m = a_model(48);
    const auto served = load_medusa(files, *m);
    EXPECT_EQ(served->heads->count(), 5);
    const std::vector<float> bias = host_copy<float>(served->parameters.find("medusa_head.4.0.linear.bias")->value);
    EXPECT_EQ(bias[17], 1.0f / 8);
  }
}

TEST(MedusaFiles, AreWrittenAsTheyAreRead) {
  const TemporaryDirectory dir;
  const tril::testing::RandomHeads random({.heads = 3, .layers = 2, .d_model = 48, .own_vocab = 60}, 1);
  save_medusa(random.parameters, random.heads, dir.path("heads"), "models/plays");
  const MedusaFiles files = MedusaFiles::open(dir.path("heads"));
  EXPECT_EQ(files.base_model(), "models/plays");
  for (const nn::Parameter& w : random.parameters.all())
    EXPECT_EQ(to_f32(files.at(w.name.substr(std::string("medusa_head.").size()))), host_copy<float>(w.value)) << w.name;
}

TEST(MedusaFiles, AreRefusedIfAnythingDoesNotFit) {
  const Shapes right = shapes_of(3, 1, 48, 60);
  struct Case {
    std::function<void(Shapes&)> spoil;
    std::vector<std::string> words;
  };
  for (const Case& k :
       std::vector<Case>{{[](Shapes& s) { s.erase("1.0.linear.bias"); }, {"1.0.linear.bias"}},
                         {[](Shapes& s) { s.erase("1.0.linear.weight"); }, {"1.0.linear.bias", "does not belong"}},
                         {[](Shapes& s) { s.erase("2.1.weight"); }, {"2.1.weight"}},
                         {[](Shapes& s) { s.erase("0.1.weight"); }, {"1.1.weight", "does not belong"}},
                         {[](Shapes& s) {
                            s["2.0.linear.weight"] = {48, 47};
                          },
                          {"2.0.linear.weight", "[48, 47]", "[48, 48]"}},
                         {[](Shapes& s) { s["0.0.linear.weight"] = {48}; }, {"0.0.linear.weight", "matrix"}},
                         {[](Shapes& s) {
                            s["1.1.weight"] = {61, 48};
                          },
                          {"1.1.weight", "[61, 48]"}},
                         {[](Shapes& s) {
                            s["lm_head.weight"] = {60, 48};
                          },
                          {"lm_head.weight", "does not belong"}},
                         {[](Shapes& s) {
                            s = {{"lm_head.weight", {60, 48}}};
                          },
                          {"0.0.linear.weight", "expected Medusa heads"}}}) {
    const TemporaryDirectory dir;
    write_config(dir, 3, 1);
    Shapes shapes = right;
    k.spoil(shapes);
    write_file(dir.path("medusa_lm_head.safetensors"), shapes);
    const std::string error = error_of([&] { MedusaFiles::open(dir.path("")); });
    for (const std::string& word : k.words) EXPECT_TRUE(contains(error, word)) << error;
  }
  const TemporaryDirectory dir;
  const auto error = [&] { return error_of([&] { MedusaFiles::open(dir.path("")); }); };
  EXPECT_TRUE(contains(error(), "config.json"));
  write_config(dir, 4, 1);
  EXPECT_TRUE(contains(error(), "medusa_lm_head.safetensors"));
  write_file(dir.path("medusa_lm_head.safetensors"), right);
  EXPECT_TRUE(contains(error(), "medusa_num_heads", "is 4", "3 heads"));
  write_config(dir, 3, 2);
  EXPECT_TRUE(contains(error(), "medusa_num_layers", "is 2", "1 layer"));
  EXPECT_TRUE(contains(error_of([&] { MedusaFiles::open(dir.path("none")); }), "is not a directory"));
}

TEST(MedusaFiles, OfAnotherModelAreRefused) {
  const TemporaryDirectory dir;
  write_config(dir, 2, 1);
  write_file(dir.path("medusa_lm_head.safetensors"), shapes_of(2, 1, 48, 61));
  const auto error = [&](std::int64_t d_model) {
    const auto m = a_model(d_model);
    return error_of([&] { load_medusa(MedusaFiles::open(dir.path("")), *m); });
  };
  EXPECT_TRUE(contains(error(32), "hidden states of 48 values", "32"));
  EXPECT_TRUE(contains(error(48), "vocabulary of 61 tokens", "60"));
}

}  // namespace
}  // namespace tril::model::medusa_test
