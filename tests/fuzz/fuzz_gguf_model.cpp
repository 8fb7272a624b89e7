// libFuzzer: any bytes as a GGUF file that is a model. An Error is fine; what is accepted must be a model with all its
// weights, whose config.json gives the same model. The corpus starts with small models of several architectures.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "gguf_mutator.h"
#include "memory_file.h"
#include "model_io/exports/gguf_export.h"
#include "model_io/gguf/gguf_config.h"
#include "model_io/source/model_source.h"
#include "model_io/source/registry.h"
#include "must.h"

namespace {

namespace fs = std::filesystem;
using tril::fuzz::must;

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A small model of each kind, as tril writes it.
std::vector<std::string> small_models() {
  const nlohmann::json llama{
      {"vocab_size", 11},         {"hidden_size", 8},         {"intermediate_size", 16},      {"num_hidden_layers", 1},
      {"num_attention_heads", 2}, {"num_key_value_heads", 1}, {"max_position_embeddings", 16}};
  std::vector<nlohmann::json> configs{
      {{"model_type", "gpt2"}, {"vocab_size", 11}, {"n_positions", 16}, {"n_embd", 8}, {"n_layer", 1}, {"n_head", 2}}};
  const auto add = [&](const char* type, const nlohmann::json& more) {
    nlohmann::json config = llama;
    config["model_type"] = type;
    config.update(more);
    configs.push_back(config);
  };
  add("llama", {{"tie_word_embeddings", true}});
  add("llama", {{"rope_theta", 500000.0},
                {"rope_scaling",
                 {{"rope_type", "llama3"},
                  {"factor", 8.0},
                  {"low_freq_factor", 1.0},
                  {"high_freq_factor", 4.0},
                  {"original_max_position_embeddings", 8}}}});
  add("llama", {{"rope_scaling", {{"rope_type", "yarn"}, {"factor", 4.0}, {"original_max_position_embeddings", 8}}}});
  add("mixtral", {{"num_local_experts", 3}, {"num_experts_per_tok", 2}, {"sliding_window", nullptr}});
  add("granite", {{"attention_multiplier", 0.5}, {"logits_scaling", 8.0}});
  add("qwen2", nlohmann::json::object());
  add("qwen3", {{"head_dim", 4}});
  add("gemma", {{"head_dim", 4}});
  add("gemma2", {{"head_dim", 4}, {"query_pre_attn_scalar", 4}, {"num_hidden_layers", 2}});
  add("olmo2", {{"eos_token_id", 1}});
  add("phi3",
      {{"eos_token_id", 1},
       {"pad_token_id", 1},
       {"original_max_position_embeddings", 8},
       {"rope_scaling", {{"rope_type", "longrope"}, {"short_factor", {1.0, 1.5}}, {"long_factor", {2.0, 3.0}}}}});
  const nlohmann::json mamba{
      {"mamba_n_heads", 2}, {"mamba_n_groups", 2}, {"mamba_d_state", 2}, {"num_hidden_layers", 2}, {"pad_token_id", 0}};
  const auto add_hybrid = [&](const char* type, nlohmann::json more) {
    more.update(mamba);
    add(type, more);
  };
  add_hybrid("granitemoehybrid", {{"layer_types", {"mamba", "attention"}},
                                  {"num_local_experts", 2},
                                  {"num_experts_per_tok", 1},
                                  {"shared_intermediate_size", 8}});
  add_hybrid("granitemoehybrid", {{"layer_types", {"mamba", "attention"}},
                                  {"num_local_experts", 0},
                                  {"num_experts_per_tok", 0},
                                  {"position_embedding_type", "rope"},
                                  {"shared_intermediate_size", 8}});
  add_hybrid("falcon_h1", {{"mamba_d_ssm", 8}, {"key_multiplier", 0.5}});
  add("mamba2", {{"num_heads", 2}, {"head_dim", 8}, {"n_groups", 2}, {"state_size", 2}, {"pad_token_id", 0}});
  add("nemotron_h", {{"layers_block_type", {"mamba", "moe", "attention"}},
                     {"num_hidden_layers", 3},
                     {"mamba_num_heads", 2},
                     {"mamba_head_dim", 4},
                     {"n_groups", 2},
                     {"ssm_state_size", 2},
                     {"head_dim", 4},
                     {"pad_token_id", 0},
                     {"n_routed_experts", 2},
                     {"num_experts_per_tok", 1},
                     {"moe_intermediate_size", 4},
                     {"moe_shared_expert_intermediate_size", 4}});
  const fs::path directory = fs::temp_directory_path() / ("tril_fuzz_gguf_" + std::to_string(::getpid()));
  std::vector<std::string> files;
  for (const nlohmann::json& config : configs) {
    const auto m = tril::model::make(tril::JsonObject(config, "seed"));
    m->parameters().allocate();
    m->parameters().initialise(1);
    tril::model::save(*m, directory);
    const std::string path = (directory / "m.gguf").string();
    tril::model::export_gguf(*m, tril::model::ModelSource::open(directory.string()).weights(),
                             {.path = path, .type = tril::GgufType::f32, .name = "seed", .tokenizer = {}});
    files.push_back(read(path));
    fs::remove_all(directory);
  }
  return files;
}

void hold_file(const std::string& path) {
  const auto m = tril::model::load(tril::model::ModelSource::open(path));
  std::size_t values = 0;
  for (const tril::nn::Parameter& p : m->parameters().all()) values += static_cast<std::size_t>(p.shape.count());
  must(values == static_cast<std::size_t>(m->parameters().count()), "the weights are counted rightly");
  const std::string written = m->config_json();
  const nlohmann::json again = nlohmann::json::parse(written);
  const auto same = tril::fuzz::must_read("its own config.json " + written,
                                          [&] { return tril::model::make(tril::JsonObject(again, "again")); });
  must(same->config_json() == written && same->parameters().names() == m->parameters().names(),
       "config.json makes the same model: " + written + "\n" + same->config_json());
  for (std::size_t i = 0; i < m->parameters().all().size(); ++i)
    must(same->parameters().all()[i].shape == m->parameters().all()[i].shape, "config.json makes the same shapes");
  tril::model::generation_config_of_gguf(tril::GgufFile::open(path));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    hold_file(tril::fuzz::memory_file({reinterpret_cast<const char*>(data), size}));
  } catch (const tril::Error&) {
  }
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  static const std::vector<std::string> seeds = small_models();
  static const std::vector<std::string> texts{"llama",
                                              "mixtral",
                                              "gpt2",
                                              "phi3",
                                              "gemma2",
                                              "granite",
                                              "yarn",
                                              "linear",
                                              "none",
                                              "longrope",
                                              "model",
                                              "general.architecture",
                                              "olmo2",
                                              "llama.rope.scaling.type",
                                              "llama.rope.scaling.factor",
                                              "llama.rope.scale_linear",
                                              "general.alignment",
                                              "llama.rope.dimension_count",
                                              "llama.attention.key_length",
                                              "llama.attention.sliding_window",
                                              "llama.expert_count",
                                              "granitehybrid",
                                              "nemotron_h_moe",
                                              "nemotron_h.attention.head_count_kv",
                                              "nemotron_h.feed_forward_length",
                                              "granitehybrid.ssm.inner_size",
                                              "mamba2.ssm.time_step_rank",
                                              "tokenizer.ggml.bos_token_id"};
  if (size < 64 || seed % 50 == 0) {
    const std::string& small = seeds[seed / 50 % seeds.size()];
    if (small.size() <= most) {
      std::copy(small.begin(), small.end(), data);
      return small.size();
    }
  }
  try {
    const auto file = tril::GgufFile::open(tril::fuzz::memory_file({reinterpret_cast<const char*>(data), size}));
    return tril::fuzz::GgufMutator(seed / 50, texts)(file, data, size, most);
  } catch (const tril::Error&) {
    return LLVMFuzzerMutate(data, size, most);
  }
}
