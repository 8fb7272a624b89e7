#include "model_io/gguf/gguf_rules.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <tuple>

#include "base/error.h"
#include "model_io/gguf/gguf_config.h"
#include "model_io/gguf/gguf_gemma4.h"
#include "model_io/gguf/gguf_gpt_tensors.h"
#include "model_io/gguf/gguf_keys.h"
#include "model_io/gguf/gguf_mamba2.h"

namespace tril::model {
namespace {

using Form = GgufRule::Form;

// Rules for a weight and its bias.
void add_linear(std::vector<GgufRule>& rules, const std::string& gguf, const std::string& hf, Form form = Form::same) {
  rules.push_back({"blk.{}." + gguf + ".weight", "model.layers.{}." + hf + ".weight", form});
  rules.push_back({"blk.{}." + gguf + ".bias", "model.layers.{}." + hf + ".bias", form});
}

constexpr std::string_view kMixtralExperts = "block_sparse_moe";  // calls the matrices w1, w2, w3

// Applies renaming to Hugging Face's names of all rules.
void rename(std::vector<GgufRule>& rules, const std::vector<std::pair<std::string_view, std::string>>& changes) {
  for (GgufRule& rule : rules)
    for (const auto& [from, to] : changes) rule.hf = with_replaced(rule.hf, from, to);
}

void remove(std::vector<GgufRule>& rules, std::string_view gguf) {
  std::erase_if(rules, [&](const GgufRule& r) { return r.gguf.find(gguf) != r.gguf.npos; });
}

void append(std::vector<GgufRule>& rules, const std::vector<GgufRule>& more) {
  rules.insert(rules.end(), more.begin(), more.end());
}

// How a family's names and forms differ from Llama's.
struct Variant {
  bool rotated = false;           // rows of queries and keys are in pairs
  bool norms_offset = false;      // Hugging Face stores norm weights minus one
  std::string_view experts = {};  // the module of the experts and their router; "": there are none
  enum class Norms { before, after, both } norms = Norms::before;  // of each sublayer
};

// The experts of a module, with a matrix for each, and their router.
std::vector<GgufRule> experts_of_module(std::string_view module) {
  const bool numbered = module == kMixtralExperts;
  std::vector<GgufRule> rules{{"blk.{}.ffn_gate_inp.weight", fmt::format("model.layers.{{}}.{}.gate.weight", module)}};
  for (const auto& [gguf, number] : {std::pair{"gate", 1}, {"down", 2}, {"up", 3}})
    rules.push_back({fmt::format("blk.{{}}.ffn_{}_exps.weight", gguf),
                     fmt::format("model.layers.{{}}.{}.experts.{{e}}.{}.weight", module,
                                 numbered ? fmt::format("w{}", number) : fmt::format("{}_proj", gguf)),
                     Form::experts});
  return rules;
}

// The rules of families with Llama's weight names.
std::vector<GgufRule> llama_like(const Variant& v) {
  const Form norm = v.norms_offset ? Form::offset : Form::same;
  std::vector<GgufRule> rules{{"token_embd.weight", "model.embed_tokens.weight"},
                              {"output_norm.weight", "model.norm.weight", norm},
                              {"output.weight", "lm_head.weight"}};
  const auto add_norm = [&](const std::string& gguf, const std::string& hf) {
    rules.push_back({"blk.{}." + gguf + ".weight", "model.layers.{}." + hf + ".weight", norm});
  };
  using Norms = Variant::Norms;
  if (v.norms != Norms::after) add_norm("attn_norm", "input_layernorm");
  if (v.norms == Norms::before) add_norm("ffn_norm", "post_attention_layernorm");
  if (v.norms == Norms::both) add_norm("ffn_norm", "pre_feedforward_layernorm");
  if (v.norms != Norms::before) {
    add_norm("post_attention_norm", "post_attention_layernorm");
    add_norm("post_ffw_norm", "post_feedforward_layernorm");
  }
  add_linear(rules, "attn_q", "self_attn.q_proj", v.rotated ? Form::rotated_queries : Form::same);
  add_linear(rules, "attn_k", "self_attn.k_proj", v.rotated ? Form::rotated_keys : Form::same);
  add_linear(rules, "attn_v", "self_attn.v_proj");
  add_linear(rules, "attn_qkv", "self_attn.qkv_proj");
  add_linear(rules, "attn_output", "self_attn.o_proj");
  add_norm("attn_q_norm", "self_attn.q_norm");
  add_norm("attn_k_norm", "self_attn.k_norm");
  if (!v.experts.empty())
    append(rules, experts_of_module(v.experts));
  else
    for (const char* name : {"gate", "up", "down"})
      add_linear(rules, std::string("ffn_") + name, fmt::format("mlp.{}_proj", name));
  return rules;
}

// Experts that Hugging Face's files hold in one tensor, with gate and up in one matrix, and their router.
std::vector<GgufRule> fused_experts(std::string_view module, std::string_view router) {
  std::vector<GgufRule> rules;
  for (const char* end : {"weight", "bias"}) {
    rules.push_back(
        {fmt::format("blk.{{}}.ffn_gate_inp.{}", end), fmt::format("model.layers.{{}}.{}.{}", router, end)});
    const auto add = [&](const char* gguf, const char* hf, Form form) {
      rules.push_back({fmt::format("blk.{{}}.ffn_{}_exps.{}", gguf, end),
                       fmt::format("model.layers.{{}}.{}.experts.{{e}}.{}.{}", module, hf, end), form});
    };
    add("gate", "gate_up_proj", Form::expert_gates);
    add("up", "gate_up_proj", Form::expert_ups);
    add("down", "down_proj", Form::experts);
  }
  return rules;
}

// Gate and up in one matrix, which GGUF calls up.
std::vector<GgufRule> with_gate_in_up(std::vector<GgufRule> rules) {
  remove(rules, "ffn_gate");
  rename(rules, {{"mlp.up_proj", "mlp.gate_up_proj"}});
  return rules;
}

// Files of the publisher's first form have queries, keys and values in one tensor.
std::vector<GgufRule> glm() {
  std::vector<GgufRule> rules = with_gate_in_up(llama_like({}));
  remove(rules, "attn_qkv");
  for (const char* end : {"weight", "bias"})
    rules.push_back({fmt::format("blk.{{}}.attn_qkv.{}", end),
                     fmt::format("model.layers.{{}}.self_attn.{{e}}_proj.{}", end), Form::fused_qkv,
                     /*only_read=*/true});
  return rules;
}

std::vector<GgufRule> glm4() {
  std::vector<GgufRule> rules = glm();
  append(rules, {{"blk.{}.post_attention_norm.weight", "model.layers.{}.post_self_attn_layernorm.weight"},
                 {"blk.{}.post_ffw_norm.weight", "model.layers.{}.post_mlp_layernorm.weight"}});
  return rules;
}

// A shared expert.
std::vector<GgufRule> shared_expert(std::string_view hf) {
  std::vector<GgufRule> rules;
  for (const char* name : {"gate", "up", "down"})
    rules.push_back({fmt::format("blk.{{}}.ffn_{}_shexp.weight", name),
                     fmt::format("model.layers.{{}}.mlp.{}.{}_proj.weight", hf, name)});
  return rules;
}

// Routed experts, and a shared one behind a gate with one row.
std::vector<GgufRule> qwen2_moe() {
  std::vector<GgufRule> rules = llama_like({.experts = "mlp"});
  append(rules, shared_expert("shared_expert"));
  rules.push_back({"blk.{}.ffn_gate_inp_shexp.weight", "model.layers.{}.mlp.shared_expert_gate.weight", Form::row});
  return rules;
}

// Dense layers, then layers with a shared expert and routed ones, whose router has a correction in v3.
std::vector<GgufRule> with_deepseek_experts(std::vector<GgufRule> rules) {
  append(rules, experts_of_module("mlp"));
  append(rules, shared_expert("shared_experts"));
  rules.push_back({"blk.{}.exp_probs_b.bias", "model.layers.{}.mlp.gate.e_score_correction_bias"});
  return rules;
}

std::vector<GgufRule> glm4_moe() {
  std::vector<GgufRule> rules = with_deepseek_experts(llama_like({}));
  for (GgufRule& r : rules) r.gguf = with_replaced(r.gguf, "ffn_norm", "post_attention_norm");
  return rules;
}

// Latent attention. @param split  the matrix of keys and values is in two tensors, and in one only in older files
std::vector<GgufRule> latent(std::vector<GgufRule> rules, bool split) {
  for (const char* name : {"attn_k.", "attn_v.", "attn_qkv.", "attn_q_norm", "attn_k_norm"}) remove(rules, name);
  for (const auto& [gguf, hf] : {std::pair{"attn_q_a", "q_a_proj"},
                                 {"attn_q_a_norm", "q_a_layernorm"},
                                 {"attn_q_b", "q_b_proj"},
                                 {"attn_kv_a_mqa", "kv_a_proj_with_mqa"},
                                 {"attn_kv_a_norm", "kv_a_layernorm"}})
    add_linear(rules, gguf, fmt::format("self_attn.{}", hf));
  const std::string kv_b = "model.layers.{}.self_attn.kv_b_proj.weight";
  rules.push_back({"blk.{}.attn_kv_b.weight", kv_b, Form::same, /*only_read=*/split});
  if (split)
    append(rules, {{"blk.{}.attn_k_b.weight", kv_b, Form::latent_keys},
                   {"blk.{}.attn_v_b.weight", kv_b, Form::latent_values}});
  return rules;
}

std::vector<GgufRule> gpt_oss() {
  std::vector<GgufRule> rules = llama_like({});
  for (const char* name : {"ffn_gate", "ffn_up", "ffn_down"}) remove(rules, name);
  for (GgufRule& r : rules) r.gguf = with_replaced(r.gguf, "ffn_norm", "post_attention_norm");
  rules.push_back({"blk.{}.attn_sinks.weight", "model.layers.{}.self_attn.sinks"});
  append(rules, fused_experts("mlp", "mlp.router"));
  return rules;
}

std::vector<GgufRule> granitemoe() {
  std::vector<GgufRule> rules = llama_like({.rotated = true});
  for (const char* name : {"ffn_gate", "ffn_up", "ffn_down"}) remove(rules, name);
  append(rules, fused_experts(kMixtralExperts, "block_sparse_moe.router.layer"));
  return rules;
}

std::vector<GgufRule> granitemoeshared() {
  std::vector<GgufRule> rules = granitemoe();
  append(rules, granite_shared_expert("_shexp"));
  return rules;
}

// Norms of queries and keys under other names.
std::vector<GgufRule> with_head_norms(std::vector<GgufRule> rules, const std::string& q, const std::string& k) {
  rename(rules, {{"self_attn.q_norm", "self_attn." + q}, {"self_attn.k_norm", "self_attn." + k}});
  return rules;
}

std::vector<GgufRule> hunyuan_moe() {
  std::vector<GgufRule> rules = with_head_norms(llama_like({.experts = "mlp"}), "query_layernorm", "key_layernorm");
  rename(rules, {{"mlp.gate.weight", "mlp.gate.wg.weight"}});
  append(rules, shared_expert("shared_mlp"));
  return rules;
}

std::vector<GgufRule> minimax_m2() {
  std::vector<GgufRule> rules = llama_like({.experts = kMixtralExperts});
  rules.push_back({"blk.{}.exp_probs_b.bias", "model.layers.{}.block_sparse_moe.e_score_correction_bias"});
  return rules;
}

// All but the gated delta rule of the families that have it. The experts may be fused in Hugging Face's files.
std::vector<GgufRule> around_delta_rule(bool has_experts) {
  std::vector<GgufRule> rules = llama_like({.norms_offset = true});
  remove(rules, "attn_qkv");
  if (has_experts) {
    for (const char* name : {"ffn_gate", "ffn_up", "ffn_down"}) remove(rules, name);
    append(rules, experts_of_module("mlp"));
    std::vector<GgufRule> fused = fused_experts("mlp", "mlp.gate");
    for (const char* name : {"ffn_gate_inp", "ffn_down_exps"}) remove(fused, name);
    append(rules, fused);
    append(rules, shared_expert("shared_expert"));
    rules.push_back({"blk.{}.ffn_gate_inp_shexp.weight", "model.layers.{}.mlp.shared_expert_gate.weight", Form::row});
  }
  for (GgufRule& r : rules) r.gguf = with_replaced(r.gguf, "ffn_norm", "post_attention_norm");
  return rules;
}

std::vector<GgufRule> qwen3_5(bool has_experts) {
  std::vector<GgufRule> rules = around_delta_rule(has_experts);
  for (const auto& [gguf, hf, form] : {std::tuple{"attn_qkv.weight", "in_proj_qkv.weight", Form::delta_qkv},
                                       {"attn_gate.weight", "in_proj_z.weight", Form::delta_values},
                                       {"ssm_alpha.weight", "in_proj_a.weight", Form::delta_heads},
                                       {"ssm_beta.weight", "in_proj_b.weight", Form::delta_heads},
                                       {"ssm_conv1d.weight", "conv1d.weight", Form::delta_taps},
                                       {"ssm_dt.bias", "dt_bias", Form::delta_heads},
                                       {"ssm_a", "A_log", Form::delta_rates},
                                       {"ssm_norm.weight", "norm.weight", Form::same},
                                       {"ssm_out.weight", "out_proj.weight", Form::delta_columns}})
    rules.push_back({fmt::format("blk.{{}}.{}", gguf), fmt::format("model.layers.{{}}.linear_attn.{}", hf), form});
  return rules;
}

// The heads of values are in the order of Hugging Face's files. Older files have their matrix of inputs, too.
std::vector<GgufRule> qwen3_next() {
  std::vector<GgufRule> rules = around_delta_rule(/*has_experts=*/true);
  for (const auto& [gguf, hf, form] : {std::tuple{"attn_qkv.weight", "in_proj_qkvz.weight", Form::delta_inputs},
                                       {"attn_gate.weight", "in_proj_qkvz.weight", Form::delta_gates},
                                       {"ssm_in.weight", "in_proj_qkvz.weight", Form::same},
                                       {"ssm_ba.weight", "in_proj_ba.weight", Form::same},
                                       {"ssm_conv1d.weight", "conv1d.weight", Form::taps},
                                       {"ssm_dt.bias", "dt_bias", Form::same},
                                       {"ssm_a", "A_log", Form::rates},
                                       {"ssm_norm.weight", "norm.weight", Form::same},
                                       {"ssm_out.weight", "out_proj.weight", Form::same}})
    rules.push_back({fmt::format("blk.{{}}.{}", gguf), fmt::format("model.layers.{{}}.linear_attn.{}", hf), form,
                     /*only_read=*/std::string_view(gguf) == "ssm_in.weight"});
  return rules;
}

// Norms before and after each sublayer, and a gate for attention's result.
std::vector<GgufRule> afmoe() {
  std::vector<GgufRule> rules = with_deepseek_experts(llama_like({}));
  rename(rules, {{"post_attention_layernorm", "pre_mlp_layernorm"},
                 {"mlp.gate.weight", "mlp.router.gate.weight"},
                 {"mlp.gate.e_score_correction_bias", "mlp.expert_bias"}});
  append(rules, {{"blk.{}.post_attention_norm.weight", "model.layers.{}.post_attention_layernorm.weight"},
                 {"blk.{}.post_ffw_norm.weight", "model.layers.{}.post_mlp_layernorm.weight"},
                 {"blk.{}.attn_gate.weight", "model.layers.{}.self_attn.gate_proj.weight"}});
  return rules;
}

std::vector<GgufRule> hy_v3() {
  std::vector<GgufRule> rules = with_deepseek_experts(llama_like({}));
  rename(rules, {{"mlp.gate.weight", "mlp.router.gate.weight"},
                 {"mlp.gate.e_score_correction_bias", "mlp.expert_bias"},
                 {"shared_experts", "shared_mlp"}});
  for (GgufRule& r : rules) r.gguf = with_replaced(r.gguf, "exp_probs_b.bias", "exp_probs_b");
  return rules;
}

// Convolutions instead of attention in some layers. GGUF calls the last norm that of the embeddings.
std::vector<GgufRule> lfm2(bool has_experts) {
  std::vector<GgufRule> rules = with_head_norms(llama_like({}), "q_layernorm", "k_layernorm");
  for (const auto& [gguf, number] : {std::pair{"gate", 1}, {"down", 2}, {"up", 3}}) {
    rename(rules, {{fmt::format("mlp.{}_proj", gguf), fmt::format("feed_forward.w{}", number)}});
    if (has_experts)
      rules.push_back({fmt::format("blk.{{}}.ffn_{}_exps.weight", gguf),
                       fmt::format("model.layers.{{}}.feed_forward.experts.{{e}}.w{}.weight", number), Form::experts});
  }
  rename(rules, {{"input_layernorm", "operator_norm"},
                 {"post_attention_layernorm", "ffn_norm"},
                 {"self_attn.o_proj", "self_attn.out_proj"},
                 {"model.norm.weight", "model.embedding_norm.weight"}});
  for (GgufRule& r : rules) r.gguf = with_replaced(r.gguf, "output_norm", "token_embd_norm");
  for (const char* name : {"in_proj", "out_proj"})
    add_linear(rules, fmt::format("shortconv.{}", name), fmt::format("conv.{}", name));
  append(rules, {{"blk.{}.shortconv.conv.weight", "model.layers.{}.conv.conv.weight", Form::taps},
                 {"blk.{}.ffn_gate_inp.weight", "model.layers.{}.feed_forward.gate.weight"},
                 {"blk.{}.exp_probs_b.bias", "model.layers.{}.feed_forward.expert_bias"}});
  return rules;
}

std::vector<GgufRule> apertus() {
  std::vector<GgufRule> rules = llama_like({});
  remove(rules, "ffn_gate");
  rename(rules, {{"input_layernorm", "attention_layernorm"}, {"post_attention_layernorm", "feedforward_layernorm"}});
  for (const char* name : {"alpha_n", "alpha_p", "beta", "eps"})
    rules.push_back(
        {fmt::format("xielu.{}", name), fmt::format("model.layers.{{}}.mlp.act_fn.{}", name), Form::metadata});
  return rules;
}

// GGUF names the second norm after the attention that it follows.
std::vector<GgufRule> seed_oss() {
  std::vector<GgufRule> rules = llama_like({});
  for (GgufRule& r : rules) r.gguf = with_replaced(r.gguf, "ffn_norm", "post_attention_norm");
  return rules;
}

// The biases of a family's layer norms.
std::vector<GgufRule> with_norm_biases(std::vector<GgufRule> rules) {
  rules.push_back({"output_norm.bias", "model.norm.bias"});
  rules.push_back({"blk.{}.attn_norm.bias", "model.layers.{}.input_layernorm.bias"});
  rules.push_back({"blk.{}.ffn_norm.bias", "model.layers.{}.post_attention_layernorm.bias"});
  return rules;
}

std::vector<GgufRule> starcoder2() {
  std::vector<GgufRule> rules = llama_like({});
  for (GgufRule& r : rules) r.hf = with_replaced(with_replaced(r.hf, "up_proj", "c_fc"), "down_proj", "c_proj");
  return with_norm_biases(std::move(rules));
}

std::vector<GgufRule> exaone() {
  std::vector<GgufRule> rules = llama_like({});
  rename(rules, {{"model.embed_tokens", "transformer.wte"},
                 {"model.norm", "transformer.ln_f"},
                 {"model.layers", "transformer.h"},
                 {"input_layernorm", "ln_1"},
                 {"post_attention_layernorm", "ln_2"},
                 {"self_attn.o_proj", "attn.attention.out_proj"},
                 {"self_attn", "attn.attention"},
                 {"gate_proj", "c_fc_0"},
                 {"up_proj", "c_fc_1"},
                 {"down_proj", "c_proj"}});
  return rules;
}

// A gate for each head's result; experts, and a shared one outside their module.
std::vector<GgufRule> step3p5() {
  std::vector<GgufRule> rules = llama_like({.norms_offset = true});
  append(rules, experts_of_module("moe"));
  append(rules, shared_expert("share_expert"));
  rename(rules, {{"mlp.share_expert", "share_expert"}});
  append(rules, {{"blk.{}.attn_gate.weight", "model.layers.{}.self_attn.g_proj.weight"},
                 {"blk.{}.exp_probs_b.bias", "model.layers.{}.moe.router_bias"}});
  return rules;
}

// A norm for each head of queries and of keys.
std::vector<GgufRule> stablelm() {
  std::vector<GgufRule> rules = with_norm_biases(llama_like({}));
  for (GgufRule& r : rules) {
    if (r.gguf.find("attn_q_norm") != r.gguf.npos) r.form = Form::query_heads;
    if (r.gguf.find("attn_k_norm") != r.gguf.npos) r.form = Form::key_heads;
  }
  rename(rules, {{"q_norm.weight", "q_layernorm.norms.{e}.weight"}, {"k_norm.weight", "k_layernorm.norms.{e}.weight"}});
  return rules;
}

}  // namespace

std::vector<GgufRule> granite_shared_expert(const std::string& end) {
  const std::string at = "model.layers.{}.shared_mlp.";
  std::vector<GgufRule> rules;
  for (const auto& [gguf, hf, form] : {std::tuple{"gate", "input_linear", Form::gate_rows},
                                       {"up", "input_linear", Form::up_rows},
                                       {"down", "output_linear", Form::same}})
    rules.push_back({fmt::format("blk.{{}}.ffn_{}{}.weight", gguf, end), fmt::format("{}{}.weight", at, hf), form});
  return rules;
}

std::vector<GgufRule> gguf_rules(const nlohmann::json& config) {
  const std::string model_type = config.at("model_type");
  using Norms = Variant::Norms;
  const auto is = [&](std::initializer_list<std::string_view> names) { return is_any(model_type, names); };
  if (is({"llama", "mistral", "ministral", "ministral3", "granite", "smollm3", "arcee", "olmo"}))
    return llama_like({.rotated = true});
  if (is({"qwen2", "qwen3", "cohere", "cohere2", "ernie4_5"})) return llama_like({});
  if (model_type == "mixtral") return llama_like({.rotated = true, .experts = kMixtralExperts});
  if (is({"qwen3_moe", "olmoe"})) return llama_like({.experts = "mlp"});
  if (model_type == "qwen2_moe") return qwen2_moe();
  if (model_type == "gemma") return llama_like({.norms_offset = true});
  if (is({"gemma2", "gemma3_text"})) return llama_like({.norms_offset = true, .norms = Norms::both});
  if (model_type == "gemma4_text") return gemma4_gguf_rules(llama_like({.norms = Norms::both}), config);
  if (is({"olmo2", "olmo3", "exaone4"})) return llama_like({.norms = Norms::after});
  if (model_type == "gpt_oss") return gpt_oss();
  if (model_type == "granitemoe") return granitemoe();
  if (model_type == "granitemoeshared") return granitemoeshared();
  if (has_mamba2(model_type)) {
    const bool granite = model_type == "granitemoehybrid", experts = granite && config.at("num_local_experts") != 0;
    return mamba2_gguf_rules(experts ? granitemoe() : llama_like({.rotated = granite || is({"bamba", "nemotron_h"})}),
                             config);
  }
  if (model_type == "glm") return glm();
  if (model_type == "phi3") return with_gate_in_up(llama_like({}));
  if (model_type == "glm4") return glm4();
  if (model_type == "glm4_moe") return glm4_moe();
  if (has_latent_attention(model_type)) return latent(with_deepseek_experts(llama_like({})), /*split=*/true);
  if (model_type == "minicpm3") return latent(llama_like({}), /*split=*/false);
  if (model_type == "dots1") return with_deepseek_experts(llama_like({}));
  if (model_type == "afmoe") return afmoe();
  if (model_type == "hy_v3") return hy_v3();
  if (model_type == "apertus") return apertus();
  if (model_type == "qwen3_next") return qwen3_next();
  if (has_delta_rule(model_type)) return qwen3_5(model_type == "qwen3_5_moe_text");
  if (has_short_convolutions(model_type)) return lfm2(model_type == "lfm2_moe");
  if (model_type == "hunyuan_v1_dense") return with_head_norms(llama_like({}), "query_layernorm", "key_layernorm");
  if (model_type == "hunyuan_v1_moe") return hunyuan_moe();
  if (model_type == "minimax_m2") return minimax_m2();
  if (model_type == "seed_oss") return seed_oss();
  if (model_type == "step3p5") return step3p5();
  if (model_type == "exaone") return exaone();
  if (model_type == "stablelm") return stablelm();
  if (model_type == "starcoder2") return starcoder2();
  if (model_type == "jais2") return with_norm_biases(llama_like({}));
  if (model_type == "nemotron") return with_norm_biases(llama_like({.norms_offset = true}));
  if (std::vector<GgufRule> rules = gpt_gguf_rules(config); !rules.empty()) return rules;
  fail_usage("GGUF", fmt::format("there is no GGUF architecture for a {} model", model_type),
             fmt::format("supported: {}", fmt::join(gguf_families(), ", ")));
}

}  // namespace tril::model
