// gptj and codegen: parallel sublayers after one norm, neighbouring values of a part of each head rotated, an output with
// biases [GPT-J: Wang & Komatsuzaki 2021]. codegen has one matrix of q, k, v, stored in four blocks, one for each device of
// its authors [Nijkamp et al. 2022].
#include <nlohmann/json.hpp>

#include "model/families/decoder_families.h"
#include "model/spec/decoder_keys.h"
#include "model/spec/gpt_like.h"

namespace tril::model {
namespace {

constexpr std::int64_t codegen_blocks = 4;

GptLikeConfig read_gptj(ConfigReader& reader, const std::string& family, const std::string& architecture) {
  GptLikeConfig k = read_gpt_like(reader, {.family = family,
                                           .architecture = architecture,
                                           .keys = gpt2_keys(),
                                           .vocab_size = 50400,
                                           .hidden_size = 4096,
                                           .num_hidden_layers = 28,
                                           .num_attention_heads = 16,
                                           .hidden_act = HiddenAct::gelu_new,
                                           .bos_token_id = 50256,
                                           .eos_token_id = 50256,
                                           .rope_parameters = false,
                                           .attention_bias = false,
                                           .attention_out_bias = false,
                                           .one_norm = true,
                                           .output_bias = true});
  const JsonObject& config = reader.json();
  const std::int64_t head = k.hidden_size / k.num_attention_heads;
  if (reader.says_null("rotary_dim")) config.fail_at("rotary_dim", "is null, expected the values of a head to rotate");
  k.rope = {.dim = reader.size("rotary_dim", 64), .theta = 10000, .interleaved = true};
  if (k.rope.dim > head || k.rope.dim % 2 != 0)
    config.fail_at("rotary_dim", fmt::format("{} values of heads of {} cannot be rotated in pairs", k.rope.dim, head));
  k.own_keys["rotary_dim"] = k.rope.dim;
  k.names = {.prefix = "transformer.",
             .embedding = "wte",
             .layers = "h",
             .attention = "attn",
             .out = "out_proj",
             .self_norm = "ln_1",
             .first = "fc_in",
             .second = "fc_out",
             .final_norm = "ln_f"};
  for (const char* key : {"rotary", "scale_attn_weights"}) reader.only(key, true);
  ignore_summary_keys(reader);
  reader.ignore({"n_ctx"});
  return k;
}

}  // namespace

std::unique_ptr<Model> make_gptj(const JsonObject& config) {
  ConfigReader reader(config, "gptj");
  GptLikeConfig k = read_gptj(reader, "gptj", "GPTJForCausalLM");
  reader.finish();
  return std::make_unique<GptLike>(std::move(k));
}

std::unique_ptr<Model> make_codegen(const JsonObject& config) {
  ConfigReader reader(config, "codegen");
  GptLikeConfig k = read_gptj(reader, "codegen", "CodeGenForCausalLM");
  if (k.hidden_size % codegen_blocks != 0)
    config.fail_at("n_embd", fmt::format("{} cannot be divided into {} blocks", k.hidden_size, codegen_blocks));
  k.fused = {.groups = codegen_blocks, .values_before_keys = true};
  k.names.qkv = "qkv_proj";
  reader.finish();
  return std::make_unique<GptLike>(std::move(k));
}

}  // namespace tril::model
