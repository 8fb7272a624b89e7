// Model directories: every family is written and read again; errors name what is wrong with a directory.
#include "model_io/source/registry.h"
#include "model_io/source/model_source.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "base/file.h"
#include "format/safetensors.h"
#include "format/safetensors_write.h"
#include "model_io/exports/quantize.h"
#include "model_io/families/left_out.h"
#include "model_io/source/packed_image.h"
#include "support/contains.h"
#include "support/paths.h"
#include "support/small_decoders.h"
#include "support/small_encoder_decoders.h"
#include "support/small_marian.h"

namespace tril::model {
namespace {

namespace fs = std::filesystem;

class Registry : public ::testing::Test {
 protected:
  Registry() {
    fs::remove_all(directory);
    fs::create_directories(directory);
  }
  ~Registry() override { fs::remove_all(directory); }

  fs::path write(const nlohmann::json& config) const {
    std::ofstream(directory / "config.json") << config.dump();
    return directory;
  }
  nlohmann::json config() const { return nlohmann::json::parse(std::ifstream(directory / "config.json")); }

  // The Error's text, or a failure.
  static std::string error_of(const std::function<void()>& f) {
    try {
      f();
    } catch (const Error& e) {
      return std::string(e.what()) + " | " + e.hint();
    }
    ADD_FAILURE() << "no Error";
    return {};
  }
  // Adds a tensor to the weights of the directory, or replaces it.
  void write_beside(const std::string& name, const std::vector<std::int64_t>& shape,
                    const std::vector<float>& values) const {
    fs::rename(directory / "model.safetensors", directory / "first.tmp");
    {
      const auto file = SafetensorsFile::open(directory / "first.tmp");
      std::vector<WeightView> weights = file.tensors();
      std::erase_if(weights, [&](const WeightView& w) { return w.name == name; });
      weights.push_back({name, StoredType::f32, shape, std::as_bytes(std::span(values))});
      write_safetensors(directory / "model.safetensors", weights, {});
    }
    fs::remove(directory / "first.tmp");
  }
  static void expect_threads_read_the_same(const fs::path& saved) {
    const ModelSource source = ModelSource::open(saved);
    const auto trained = [&](int threads) { return host_copy<float>(load(source, {}, threads)->parameters().flat()); };
    EXPECT_EQ(trained(3), trained(1));
    const auto served = [&](int threads) {
      const auto m = load(source, nn::Precision::int8, threads);
      const std::span<const std::byte> image = m->parameters().serving_image();
      return std::vector(image.begin(), image.end());
    };
    EXPECT_EQ(served(3), served(1));
  }
  static void expect_in(const std::string& text, const std::string& part) { EXPECT_TRUE(contains(text, part)); }

  const fs::path directory = fs::temp_directory_path() / ("tril_registry_" + std::to_string(getpid()));
};

nlohmann::json own(const std::string& architecture, const nlohmann::json& rest) {
  nlohmann::json j{{"model_type", "tril"}, {"architecture", architecture}};
  j.update(rest);
  return j;
}

const nlohmann::json configs[] = {
    nlohmann::json::parse(testing::small_marian()->config_json()),
    own("padded_decoder",
        {{"vocab_size", 21}, {"d_model", 8}, {"num_heads", 2}, {"d_ff", 12}, {"num_layers", 2}, {"pad_idx", 3}}),
    own("full_transformer", {{"vocab_size", 13},
                             {"d_model", 8},
                             {"num_heads", 2},
                             {"d_ff", 12},
                             {"num_layers", 2},
                             {"share_norm2", true},
                             {"dropout", 0.25}}),
    own("learned_position_decoder", {{"vocab_size", 13},
                                     {"d_model", 8},
                                     {"num_heads", 4},
                                     {"num_layers", 1},
                                     {"forward_expansion", 3},
                                     {"max_length", 9}}),
    own("tied_decoder", {{"vocab_size", 13},
                         {"d_model", 8},
                         {"num_heads", 4},
                         {"d_ff", 20},
                         {"num_layers", 2},
                         {"max_length", 9},
                         {"causal", false}}),
    {{"model_type", "gpt2"},
     {"vocab_size", 13},
     {"n_positions", 9},
     {"n_embd", 8},
     {"n_layer", 2},
     {"n_head", 2},
     {"n_inner", 20},
     {"attn_pdrop", 0.25},
     {"eos_token_id", 12}},
};

TEST_F(Registry, EveryFamilyIsReadAsItWasWritten) {
  std::vector<std::string> seen;
  std::vector<nlohmann::json> every(std::begin(configs), std::end(configs));
  const nlohmann::json opennmt{{"architecture", "opennmt"}, {"pad_token_id", 12}, {"decoder_start_token_id", 12}};
  every.push_back(testing::bart_variant("tril", opennmt));
  every.push_back(testing::bart_variant("tril", opennmt));
  every.back().update({{"decoder_vocab_size", 15},
                       {"share_encoder_decoder_embeddings", false},
                       {"tie_word_embeddings", false},
                       {"normalize_before", true},
                       {"normalize_embedding", true},
                       {"layer_norm_eps", 1e-6}});
  for (const nlohmann::json& j : testing::small_encoder_decoders())
    if (j["model_type"] != "marian") every.push_back(j);
  std::string last = "gpt2";
  for (const nlohmann::json& j : testing::small_decoders())  // of each family the first
    if (j["model_type"] != last) every.push_back(j), last = j["model_type"];
  for (const nlohmann::json& j : every) {
    fs::remove_all(directory), fs::create_directories(directory);
    const auto m = make(ModelSource::open(write(j)));
    SCOPED_TRACE(m->family());
    seen.push_back(m->family());
    m->parameters().allocate();
    m->parameters().initialise(6);
    m->parameters().refresh(kern::best());
    const fs::path saved = directory / "saved";
    save(*m, saved);
    const auto again = load(ModelSource::open(saved));
    EXPECT_EQ(again->family(), m->family());
    EXPECT_EQ(again->config_json(), m->config_json()) << "nothing of the configuration is lost";
    EXPECT_EQ(host_copy<float>(again->parameters().flat()), host_copy<float>(m->parameters().flat()));
    ASSERT_EQ(again->parameters().names(), m->parameters().names());
    expect_threads_read_the_same(saved);
    const auto written = SafetensorsFile::open((saved / "model.safetensors").string());
    std::set<std::string> tensors;  // one may hold several weights
    for (const nn::Parameter& p : m->parameters().all()) tensors.insert(m->stored_as(p).names[0]);
    EXPECT_EQ(written.names().size(), tensors.size());
    for (const nn::Parameter& p : again->parameters().all())
      if (p.in_products) {
        EXPECT_TRUE(p.transposed) << p.name << " is ready for use";
      }
    const std::vector<float> other(static_cast<std::size_t>(m->parameters().flat().count()), 0.5f);
    save(*m, saved, other);
    EXPECT_EQ(host_copy<float>(load(ModelSource::open(saved))->parameters().all().front().value)[0], 0.5f);
  }
  std::vector<std::string> all = families();
  std::sort(all.begin(), all.end()), std::sort(seen.begin(), seen.end());
  seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
  EXPECT_EQ(seen, all) << "a family without a case";
}

// Files hold the experts of a layer in one tensor, or each by itself: what is read so is written so, also in 8 bits.
TEST_F(Registry, ExpertsKeepTheFormOfTheirFiles) {
  for (const auto& [name, tensor] : {std::pair{"qwen3_5_moe", "model.layers.0.mlp.experts.gate_up_proj"},
                                     {"qwen3_5_moe_text", "model.layers.0.mlp.experts.0.gate_proj.weight"}}) {
    SCOPED_TRACE(name);
    const ModelSource source = ModelSource::open(fs::path(test::test_dir()) / "golden/hf" / name);
    const auto m = load(source);
    save(*m, directory / name);
    EXPECT_NE(SafetensorsFile::open((directory / name / "model.safetensors").string()).find(tensor), nullptr);
    const auto again = load(ModelSource::open(directory / name));
    EXPECT_EQ(host_copy<float>(again->parameters().flat()), host_copy<float>(m->parameters().flat()));
    quantize(ModelSource::open(directory / name), directory / "int8", /*bits=*/8);
    EXPECT_EQ(load(ModelSource::open(directory / "int8"))->parameters().names(), m->parameters().names());
    fs::remove_all(directory / "int8");
  }
}

// The first cells of a page's tables: "| `name` |".
std::vector<std::string> first_cells(const std::string& page) {
  std::ifstream in(fs::path(test::test_dir()).parent_path() / "docs" / page);
  std::vector<std::string> names;
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("| `") && line.find("`", 3) != line.npos)
      names.push_back(line.substr(3, line.find("`", 3) - 3));
  return names;
}

TEST_F(Registry, ThePagesNameTheFamiliesThatThereAre) {
  const std::vector<std::string> published = first_cells("families.md"), own = first_cells("decoders.md"),
                                 all = families();
  ASSERT_FALSE(published.empty());
  const auto has = [](const std::vector<std::string>& list, const std::string& name) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  for (const std::string& name : published) {
    if (name == "model_type") continue;  // the head of a table
    EXPECT_EQ(std::count(published.begin(), published.end(), name), 1) << name;
    EXPECT_TRUE(has(all, name)) << "docs/families.md has " << name;
  }
  for (const std::string& name : all) EXPECT_TRUE(has(published, name) || has(own, name)) << "no page has " << name;
}

// What a refused family needs is what the page says.
TEST_F(Registry, FamiliesThatAreLeftOutSayWhatIsMissing) {
  const std::string page =
      read_text((fs::path(test::test_dir()).parent_path() / "docs/families.md").string(), std::size_t{1} << 20);
  const std::vector<std::string> read = families();
  for (const LeftOut& row : left_out()) {
    std::istringstream in{std::string(row.families)};
    std::string cell;
    for (std::string name; in >> name;) {
      cell += fmt::format("{}`{}`", cell.empty() ? "" : ", ", name);
      EXPECT_EQ(std::ranges::find(read, name), read.end()) << name;
      const nlohmann::json config{{"model_type", name}};
      expect_in(error_of([&] { make(JsonObject(config, "config.json")); }),
                fmt::format("model_type: the family '{}' is not supported; tril lacks: ", name));
    }
    EXPECT_NE(page.find(fmt::format("\n| {} | {} |\n", row.missing, cell)), page.npos) << cell;
  }
}

TEST_F(Registry, MissingFiles) {
  expect_in(error_of([&] { load(ModelSource::open(directory / "nowhere")); }), "nowhere: no such file or directory");
  expect_in(error_of([&] { load(ModelSource::open(directory)); }), "config.json");
  write(configs[0]);
  expect_in(error_of([&] { load(ModelSource::open(directory)); }), "model.safetensors");
}

// Leftovers of a checkout without git-lfs and of an emptied download cache.
TEST_F(Registry, FilesThatWereNotFetched) {
  const auto m = testing::small_marian();
  save(*m, directory);
  const auto stands_in = [&](const char* name, const std::function<void(const fs::path&)>& put,
                             const std::string& part) {
    const fs::path file = directory / name, kept = directory / "kept";
    fs::rename(file, kept);
    put(file);
    const std::string text = error_of([&] { load(ModelSource::open(directory)); });
    expect_in(text, name);
    expect_in(text, part);
    fs::remove(file);
    fs::rename(kept, file);
  };
  for (const char* name : {"config.json", "model.safetensors"}) {
    stands_in(
        name,
        [](const fs::path& file) {
          std::ofstream(file) << "version https://git-lfs.github.com/spec/v1\noid sha256:0123\nsize 77\n";
        },
        "`git lfs pull`");
    stands_in(
        name, [](const fs::path& file) { fs::create_symlink("../blobs/0123", file); },
        "dangling link to ../blobs/0123");
  }
  load(ModelSource::open(directory));
}

TEST_F(Registry, WeightsOfAnotherConfiguration) {
  const auto m = testing::small_marian();
  save(*m, directory);
  nlohmann::json j = config();
  j["decoder_ffn_dim"] = 48;
  write(j);
  std::string text = error_of([&] { load(ModelSource::open(directory)); });
  expect_in(text, "model.safetensors: model.decoder.layers.0.fc1.weight");
  expect_in(text, "has shape [32, 16], but the configuration needs [48, 16]");

  j["decoder_ffn_dim"] = 32;
  j["decoder_layers"] = 3;
  write(j);
  expect_in(error_of([&] { load(ModelSource::open(directory)); }), "model.decoder.layers.2.");
  j["decoder_layers"] = 1;
  write(j);
  text = error_of([&] { load(ModelSource::open(directory)); });
  expect_in(text, "model.decoder.layers.1.");
  expect_in(text, "has no such weight");
}

// Whichever weight fails first, the error names the first wrong one. Large weights are set first, so a smaller one before a larger
// one shows it with a single thread.
TEST_F(Registry, OfSeveralWrongWeightsTheFirstIsNamed) {
  const auto m = testing::small_marian();
  std::vector<float> flat = host_copy<float>(m->parameters().flat());
  std::vector<const nn::Parameter*> wrong;
  for (const nn::Parameter& p : m->parameters().all()) {
    const bool small_or_larger = wrong.empty() ? p.shape.rank() == 2 && p.shape.count() == 16 * 16
                                               : wrong.size() == 1 && p.shape.rank() == 2 && p.shape.count() == 32 * 16;
    if (!p.in_products || !small_or_larger) continue;
    wrong.push_back(&p);
    flat[static_cast<std::size_t>(m->parameters().offset_of(p))] = std::nanf("");
  }
  ASSERT_EQ(wrong.size(), 2u);
  save(*m, directory, flat);
  const ModelSource source = ModelSource::open(directory);
  const std::string first = m->stored_as(*wrong[0]).names[0];
  for (int i = 0; i < 40; ++i)
    expect_in(error_of([&] { load(source, nn::Precision::int8, 1 + i % 4); }), "model.safetensors: " + first);
}

// As in `transformers`: decoder_start_token_id, else bos_token_id, of generation_config.json, or of config.json without this file.
TEST_F(Registry, TranslationsBeginAsGenerationConfigSays) {
  save(*testing::small_marian(), directory);
  nlohmann::json plain = config();
  plain.erase("bos_token_id"), plain.erase("decoder_start_token_id");
  const auto start = [&](const nlohmann::json& in_config, const nlohmann::json& in_generation) {
    nlohmann::json changed = plain;
    changed.update(in_config);
    write(changed);
    fs::remove(directory / "generation_config.json");
    if (!in_generation.is_null()) std::ofstream(directory / "generation_config.json") << in_generation.dump();
    return load(ModelSource::open(directory))->special_ids().decoder_start;
  };
  const nlohmann::json own{{"decoder_start_token_id", 5}, {"bos_token_id", 6}}, bos{{"bos_token_id", 6}};
  EXPECT_EQ(start(own, {{"decoder_start_token_id", 7}, {"bos_token_id", 8}}), 7);
  EXPECT_EQ(start(own, {{"decoder_start_token_id", {7, 9}}}), 7);
  EXPECT_EQ(start(own, {{"decoder_start_token_id", nullptr}, {"bos_token_id", 8}}), 8);
  EXPECT_EQ(start(own, {{"num_beams", 2}}), 5) << "transformers refuses to translate";
  EXPECT_EQ(start(own, nullptr), 5);
  EXPECT_EQ(start(bos, nullptr), 6);
  EXPECT_EQ(start(nlohmann::json::object(), {{"decoder_start_token_id", 7}}), 7);
  // The config class of marian has 58100, which this vocabulary lacks.
  expect_in(error_of([&] { start(nlohmann::json::object(), nullptr); }), "decoder_start_token_id: is null or absent");
  const std::string text = error_of([&] { start(own, {{"decoder_start_token_id", 40}}); });
  expect_in(text, "generation_config.json: decoder_start_token_id: there is no token 40: the vocabulary has 40");
  // What is written says the same in both files.
  start(own, {{"decoder_start_token_id", 7}});
  const auto m = load(ModelSource::open(directory));
  save(*m, directory);
  EXPECT_EQ(config().at("decoder_start_token_id"), 7);
}

// A file with the shared embedding under several names would silently be another model if these differ.
TEST_F(Registry, CopiesOfAWeightAreEqual) {
  const auto m = testing::small_marian();
  save(*m, directory);
  std::vector<float> table = host_copy<float>(m->parameters().all().front().value);
  const auto write_copy = [&] { write_beside("model.decoder.embed_tokens.weight", {40, 16}, table); };
  write_copy();
  EXPECT_EQ(host_copy<float>(load(ModelSource::open(directory))->parameters().flat()),
            host_copy<float>(m->parameters().flat()));
  table[5] += 1;
  write_copy();
  expect_in(error_of([&] { load(ModelSource::open(directory)); }),
            "model.decoder.embed_tokens.weight: differs from model.shared.weight");
}

// `transformers` takes stored sinusoids of marian and pegasus, and computes those of m2m_100.
TEST_F(Registry, StoredSinusoidsAreThoseOfTheModel) {
  const std::string name = "model.encoder.embed_positions.weight";
  for (const char* family : {"marian", "pegasus", "m2m_100"}) {
    SCOPED_TRACE(family);
    const auto m = make(JsonObject(
        testing::bart_variant(family, {{"pad_token_id", 1}, {"eos_token_id", 2}, {"decoder_start_token_id", 1}}),
        "config.json"));
    m->parameters().allocate();
    save(*m, directory);
    const std::int64_t rows = m->max_positions(), half = m->d_model() / 2;
    std::vector<float> table;  // the formula of Vaswani et al., sines first
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t i = 0; i < 2 * half; ++i) {
        const double angle =
            static_cast<double>(row) / std::pow(1e4, static_cast<double>(i % half) / static_cast<double>(half));
        table.push_back(static_cast<float>(i < half ? std::sin(angle) : std::cos(angle)) + (i % 2 ? 0.001f : -0.001f));
      }
    const auto loads = [&] { return load(ModelSource::open(directory)); };
    write_beside(name, {rows, 2 * half}, table);
    EXPECT_NO_THROW(loads());
    table[static_cast<std::size_t>(2 * half * (rows - 1))] += 0.01f;
    write_beside(name, {rows, 2 * half}, table);
    if (std::string(family) == "m2m_100") {
      EXPECT_NO_THROW(loads());
      continue;
    }
    expect_in(error_of(loads), name + ": position " + std::to_string(rows - 1) + " has ");
    table.back() = std::nanf("");
    write_beside(name, {rows, 2 * half}, table);
    expect_in(error_of(loads), name);
    write_beside(name, {1, rows * 2 * half}, table);
    expect_in(error_of(loads), name + ": expected floats [positions, " + std::to_string(2 * half) + "]");
  }
}

// Weights of another configuration are a fault of the files (exit code 1), not of the request.
TEST_F(Registry, WhatFilesSayWrongIsNoWrongRequest) {
  const auto m = testing::small_marian();
  save(*m, directory);
  nlohmann::json j = config();
  j["decoder_ffn_dim"] = 48;
  write(j);
  const auto kind_of = [](const std::function<void()>& f) {
    try {
      f();
    } catch (const Error& e) {
      return e.kind();
    }
    ADD_FAILURE() << "no Error";
    return ErrorKind::usage;
  };
  EXPECT_EQ(kind_of([&] { load(ModelSource::open(directory)); }), ErrorKind::failure);
  EXPECT_EQ(kind_of([&] { quantize(ModelSource::open(directory), directory / "out", 8); }), ErrorKind::failure);
  EXPECT_EQ(kind_of([&] { write_packed_image(ModelSource::open(directory), nn::Precision::bf16); }),
            ErrorKind::failure);
}

TEST_F(Registry, WhatConfigurationsCannotSay) {
  const auto says = [&](const nlohmann::json& changes, const std::string& key, const std::string& text) {
    nlohmann::json j = configs[0];
    for (const auto& [k, v] : changes.items()) j[k] = v;
    const std::string e = error_of([&] { make(ModelSource::open(write(j))); });
    expect_in(e, key);
    expect_in(e, text);
  };
  says({{"model_type", "marjan"}}, "model_type", "the family 'marjan' is not supported");
  // Families of publishers' own programs.
  says({{"model_type", "internlm"}}, "model_type", "a program of its publisher computes this family");
  says({{"model_type", "phi-msft"}}, "'phi-msft' is not supported", "newer revisions of the same repositories say phi");
  says({{"model_type", "xyz"}, {"auto_map", {{"AutoModel", "modeling_xyz.XyzModel"}}}}, "'xyz' is not supported",
       "look for the same model under a family that `tril families` lists");
  says({{"normalize_before", true}}, "normalize_before", "not supported for marian");
  says({{"static_position_embeddings", false}}, "static_position_embeddings", "not supported for marian");
  says({{"quantization_config", {{"bits", 8}}}}, "quant_method", "not supported");
  says({{"decoder_attention_heads", 5}}, "decoder_attention_heads", "d_model 16 is not divisible by 5 heads");
  says({{"activation_function", "tanhh"}}, "activation_function", "'tanhh' is not supported");
  says({{"pad_token_id", 40}}, "pad_token_id", "40 is not a valid id: the vocabulary has 40 tokens");
  says({{"dropout", 1.0}}, "dropout", "1 is not in [0, 1)");
  says({{"d_model", 15}}, "d_model", "15");
  says({{"d_model", "16"}}, "d_model", "");
  says({{"vocab_size", -4}}, "vocab_size", "");
  nlohmann::json j = configs[1];
  j["pad_idx"] = 21;
  expect_in(error_of([&] { make(ModelSource::open(write(j))); }),
            "pad_idx: 21 is not a valid id: the vocabulary has 21 tokens");
  j = configs[1];
  j["num_heads"] = 3;
  expect_in(error_of([&] { make(ModelSource::open(write(j))); }), "d_model 8 is not divisible by 3 heads");
  j = configs[4];
  j.erase("max_length");
  expect_in(error_of([&] { make(ModelSource::open(write(j))); }), "max_length");
}

}  // namespace
}  // namespace tril::model
