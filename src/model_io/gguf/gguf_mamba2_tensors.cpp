// The tensors of the families with Mamba-2 in GGUF files, and the factors that falcon_h1's weights have there.
#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/as_size.h"
#include "base/error.h"
#include "model_io/gguf/gguf_mamba2.h"
#include "model_io/gguf/gguf_rules.h"

namespace tril::model {
namespace {

using Json = nlohmann::json;
using Form = GgufRule::Form;

void remove_tensors(std::vector<GgufRule>& rules, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names)
    std::erase_if(rules, [&](const GgufRule& r) { return r.gguf.find(name) != r.gguf.npos; });
}

// Replaces a part of the names, of Hugging Face's or of GGUF's.
void rename_tensors(std::vector<GgufRule>& rules, std::string GgufRule::*name, std::string_view from,
                    std::string_view to) {
  for (GgufRule& r : rules)
    if (const std::size_t at = (r.*name).find(from); at != std::string::npos) (r.*name).replace(at, from.size(), to);
}

// Mamba-2 in the module `module` of each layer.
void add_mamba2(std::vector<GgufRule>& rules, const std::string& module) {
  for (const auto& [gguf, hf, form] : {std::tuple{"ssm_in.weight", "in_proj.weight", Form::same},
                                       {"ssm_conv1d.weight", "conv1d.weight", Form::taps},
                                       {"ssm_conv1d.bias", "conv1d.bias", Form::same},
                                       {"ssm_dt.bias", "dt_bias", Form::same},
                                       {"ssm_a", "A_log", Form::column_rates},
                                       {"ssm_d", "D", Form::column},
                                       {"ssm_norm.weight", "norm.weight", Form::norm_groups},
                                       {"ssm_out.weight", "out_proj.weight", Form::same}})
    rules.push_back({fmt::format("blk.{{}}.{}", gguf), fmt::format("{}.{}", module, hf), form});
}

std::vector<GgufRule> granite_hybrid(std::vector<GgufRule> rules, bool has_experts) {
  remove_tensors(rules, {"attn_qkv"});
  if (!has_experts) remove_tensors(rules, {"ffn_gate", "ffn_up", "ffn_down"});
  for (GgufRule& rule : granite_shared_expert(has_experts ? "_shexp" : "")) rules.push_back(std::move(rule));
  add_mamba2(rules, "model.layers.{}.mamba");
  return rules;
}

// Mamba-2 and other names of the norms and the feed-forward.
std::vector<GgufRule> with_feed_forward_names(std::vector<GgufRule> rules) {
  remove_tensors(rules, {"attn_qkv"});
  rename_tensors(rules, &GgufRule::hf, "post_attention_layernorm", "pre_ff_layernorm");
  rename_tensors(rules, &GgufRule::hf, "model.norm", "model.final_layernorm");
  rename_tensors(rules, &GgufRule::hf, "mlp.", "feed_forward.");
  add_mamba2(rules, "model.layers.{}.mamba");
  return rules;
}

// GGUF's name of the second norm has no ending.
std::vector<GgufRule> falcon_h1(std::vector<GgufRule> rules) {
  rules = with_feed_forward_names(std::move(rules));
  rename_tensors(rules, &GgufRule::gguf, "ffn_norm.weight", "ffn_norm");
  return rules;
}

// Queries and keys of which a part is rotated.
std::vector<GgufRule> bamba(std::vector<GgufRule> rules) {
  for (GgufRule& r : rules) {
    if (r.form == Form::rotated_queries) r.form = Form::part_rotated_queries;
    if (r.form == Form::rotated_keys) r.form = Form::part_rotated_keys;
  }
  return with_feed_forward_names(std::move(rules));
}

// The experts of nemotron_h, which have no gates, and their router.
void add_nemotron_experts(std::vector<GgufRule>& rules) {
  const std::string at = "backbone.layers.{}.mixer.";
  for (const char* name : {"up", "down"}) {
    rules.push_back({fmt::format("blk.{{}}.ffn_{}_exps.weight", name),
                     fmt::format("{}experts.{{e}}.{}_proj.weight", at, name), Form::experts});
    rules.push_back(
        {fmt::format("blk.{{}}.ffn_{}_shexp.weight", name), fmt::format("{}shared_experts.{}_proj.weight", at, name)});
  }
  rules.push_back({"blk.{}.ffn_gate_inp.weight", at + "gate.weight"});
  rules.push_back({"blk.{}.exp_probs_b.bias", at + "gate.e_score_correction_bias"});
}

// One sublayer in each layer, which is called mixer.
std::vector<GgufRule> mixers(std::vector<GgufRule> rules) {
  remove_tensors(rules, {"attn_qkv", "attn_q_norm", "attn_k_norm", "ffn_gate", "ffn_norm"});
  for (const auto& [from, to] : {std::pair{"model.embed_tokens", "backbone.embeddings"},
                                 {"model.norm", "backbone.norm_f"},
                                 {"model.layers", "backbone.layers"},
                                 {"input_layernorm", "norm"},
                                 {"self_attn", "mixer"},
                                 {"mlp.", "mixer."}})
    rename_tensors(rules, &GgufRule::hf, from, to);
  add_mamba2(rules, "backbone.layers.{}.mixer");
  return rules;
}

void multiply(std::span<float> values, const Json& factor) {
  const float by = factor.get<float>();
  for (float& v : values) v *= by;
}

// The rows of the inputs of Mamba-2: those of z, x, B, C and dt have factors of their own.
void multiply_inputs(const Json& config, std::span<float> values) {
  const auto size = [&](const char* key) { return config.at(key).get<std::int64_t>(); };
  multiply(values, config.at("ssm_in_multiplier"));
  const std::int64_t heads = size("mamba_n_heads"), inner = heads * size("mamba_d_head"),
                     keys = size("mamba_n_groups") * size("mamba_d_state");
  const std::int64_t width = std::ssize(values) / (2 * inner + 2 * keys + heads);
  std::size_t begin = 0, part = 0;
  for (const std::int64_t rows : {inner, inner, keys, keys, heads}) {
    multiply(values.subspan(begin, as_size(rows * width)), config.at("ssm_multipliers").at(part++));
    begin += as_size(rows * width);
  }
}

}  // namespace

std::vector<GgufRule> mamba2_gguf_rules(std::vector<GgufRule> rules, const Json& config) {
  const std::string family = config.at("model_type");
  if (family == "granitemoehybrid") return granite_hybrid(std::move(rules), config.at("num_local_experts") != 0);
  if (family == "falcon_h1") return falcon_h1(std::move(rules));
  if (family == "bamba") return bamba(std::move(rules));
  rules = mixers(std::move(rules));
  if (config.contains("n_routed_experts")) add_nemotron_experts(rules);
  return rules;
}

void multiply_by_factors(const GgufRule& rule, const Json& config, std::span<float> values) {
  if (config.at("model_type") != "falcon_h1") return;
  const auto is = [&](std::string_view name) { return rule.gguf.find(name) != rule.gguf.npos; };
  const auto by = [&](const char* key) { multiply(values, config.at(key)); };
  // One factor after the other, so that the float32 values are those of llama.cpp's converter.
  if (is("attn_k.")) by("key_multiplier");
  if (is("attn_q.") || is("attn_k.") || is("attn_v.")) by("attention_in_multiplier");
  if (is("attn_output.")) by("attention_out_multiplier");
  if (is("ffn_gate.")) multiply(values, config.at("mlp_multipliers").at(0));
  if (is("ffn_down.")) multiply(values, config.at("mlp_multipliers").at(1));
  if (is("ssm_in.")) multiply_inputs(config, values);
  if (is("ssm_out.")) by("ssm_out_multiplier");
  if (is("token_embd.")) by("embedding_multiplier");
  if (rule.gguf == "output.weight") by("lm_head_multiplier");
}

}  // namespace tril::model
