#include "model_io/gguf_tensors.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <initializer_list>

#include "base/error.h"
#include "model_io/gguf_keys.h"

namespace tril::model {
namespace {

using Form = GgufRule::Form;

std::string replaced(std::string text, std::string_view what, const std::string& by) {
  if (const std::size_t at = text.find(what); at != text.npos) text.replace(at, what.size(), by);
  return text;
}

// Rules for a weight and its bias.
void add_linear(std::vector<GgufRule>& rules, const std::string& gguf, const std::string& hf, Form form = Form::same) {
  rules.push_back({"blk.{}." + gguf + ".weight", "model.layers.{}." + hf + ".weight", form});
  rules.push_back({"blk.{}." + gguf + ".bias", "model.layers.{}." + hf + ".bias", form});
}

constexpr std::string_view kMixtralExperts = "block_sparse_moe";  // calls the matrices w1, w2, w3

// How a family's names and forms differ from Llama's.
struct Variant {
  bool rotated = false;           // rows of queries and keys are in pairs
  bool norms_offset = false;      // Hugging Face stores norm weights minus one
  std::string_view experts = {};  // the module of the experts and their router; "": there are none
  enum class Norms { before, after, both } norms = Norms::before;  // of each sublayer
};

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
  if (!v.experts.empty()) {
    const bool numbered = v.experts == kMixtralExperts;
    rules.push_back({"blk.{}.ffn_gate_inp.weight", fmt::format("model.layers.{{}}.{}.gate.weight", v.experts)});
    for (const auto& [gguf, number] : {std::pair{"gate", 1}, {"down", 2}, {"up", 3}})
      rules.push_back({fmt::format("blk.{{}}.ffn_{}_exps.weight", gguf),
                       fmt::format("model.layers.{{}}.{}.experts.{{e}}.{}.weight", v.experts,
                                   numbered ? fmt::format("w{}", number) : fmt::format("{}_proj", gguf)),
                       Form::experts});
  } else {
    for (const char* name : {"gate", "up", "down"})
      add_linear(rules, std::string("ffn_") + name, fmt::format("mlp.{}_proj", name));
  }
  return rules;
}

std::vector<GgufRule> phi3() {
  std::vector<GgufRule> rules = llama_like({});
  for (GgufRule& r : rules)  // gate and up in one matrix, which GGUF calls up
    if (r.gguf.find("ffn_up") != r.gguf.npos) r.hf = replaced(r.hf, "up_proj", "gate_up_proj");
  std::erase_if(rules, [](const GgufRule& r) { return r.gguf.find("ffn_gate") != r.gguf.npos; });
  return rules;
}

// Routed experts, and a shared one behind a gate with one row.
std::vector<GgufRule> qwen2_moe() {
  std::vector<GgufRule> rules = llama_like({.experts = "mlp"});
  for (const char* name : {"gate", "up", "down"})
    rules.push_back({fmt::format("blk.{{}}.ffn_{}_shexp.weight", name),
                     fmt::format("model.layers.{{}}.mlp.shared_expert.{}_proj.weight", name)});
  rules.push_back({"blk.{}.ffn_gate_inp_shexp.weight", "model.layers.{}.mlp.shared_expert_gate.weight", Form::row});
  return rules;
}

// GGUF names the second norm after the attention that it follows.
std::vector<GgufRule> seed_oss() {
  std::vector<GgufRule> rules = llama_like({});
  for (GgufRule& r : rules) r.gguf = replaced(r.gguf, "ffn_norm", "post_attention_norm");
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
  for (GgufRule& r : rules) r.hf = replaced(replaced(r.hf, "up_proj", "c_fc"), "down_proj", "c_proj");
  return with_norm_biases(std::move(rules));
}

std::vector<GgufRule> gpt2() {
  std::vector<GgufRule> rules{{"token_embd.weight", "transformer.wte.weight"},
                              {"position_embd.weight", "transformer.wpe.weight"},
                              {"output_norm.weight", "transformer.ln_f.weight"},
                              {"output_norm.bias", "transformer.ln_f.bias"},
                              {"output.weight", "lm_head.weight"}};
  for (const auto& [gguf, hf] : {std::pair{"attn_norm", "ln_1"},
                                 {"ffn_norm", "ln_2"},
                                 {"attn_qkv", "attn.c_attn"},
                                 {"attn_output", "attn.c_proj"},
                                 {"ffn_up", "mlp.c_fc"},
                                 {"ffn_down", "mlp.c_proj"}}) {
    const bool matrix = std::string_view(hf).find('.') != std::string_view::npos;
    rules.push_back({fmt::format("blk.{{}}.{}.weight", gguf), fmt::format("transformer.h.{{}}.{}.weight", hf),
                     matrix ? Form::transposed : Form::same});
    rules.push_back({fmt::format("blk.{{}}.{}.bias", gguf), fmt::format("transformer.h.{{}}.{}.bias", hf)});
  }
  return rules;
}

}  // namespace

std::string GgufRule::gguf_name(std::int64_t layer) const {
  return replaced(gguf, "{}", std::to_string(layer));
}

std::string GgufRule::hf_name(std::int64_t layer, std::int64_t expert) const {
  return replaced(replaced(hf, "{}", std::to_string(layer)), "{e}", std::to_string(expert));
}

std::vector<GgufRule> gguf_rules(std::string_view model_type) {
  using Norms = Variant::Norms;
  const auto is_any = [&](std::initializer_list<std::string_view> names) {
    return std::find(names.begin(), names.end(), model_type) != names.end();
  };
  if (is_any({"llama", "mistral", "granite", "smollm3", "arcee"})) return llama_like({.rotated = true});
  if (is_any({"qwen2", "qwen3", "cohere2", "ernie4_5"})) return llama_like({});
  if (model_type == "mixtral") return llama_like({.rotated = true, .experts = kMixtralExperts});
  if (is_any({"qwen3_moe", "olmoe"})) return llama_like({.experts = "mlp"});
  if (model_type == "qwen2_moe") return qwen2_moe();
  if (model_type == "gemma") return llama_like({.norms_offset = true});
  if (is_any({"gemma2", "gemma3_text"})) return llama_like({.norms_offset = true, .norms = Norms::both});
  if (is_any({"olmo2", "olmo3"})) return llama_like({.norms = Norms::after});
  if (model_type == "seed_oss") return seed_oss();
  if (model_type == "starcoder2") return starcoder2();
  if (model_type == "nemotron") return with_norm_biases(llama_like({.norms_offset = true}));
  if (model_type == "phi3") return phi3();
  if (model_type == "gpt2") return gpt2();
  fail_usage("GGUF", fmt::format("there is no GGUF architecture for a {} model", model_type),
             fmt::format("supported: {}", fmt::join(gguf_families(), ", ")));
}

}  // namespace tril::model
