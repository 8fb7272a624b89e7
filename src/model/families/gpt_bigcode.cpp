// gpt_bigcode: gpt2 with one head of keys and values for all heads of queries [SantaCoder: Ben Allal et al. 2023, section
// 4.1; StarCoder: Li et al. 2023].
#include <nlohmann/json.hpp>

#include "model/families/decoder_families.h"
#include "model/spec/decoder_keys.h"
#include "model/spec/gpt_like.h"

namespace tril::model {

std::unique_ptr<Model> make_gpt_bigcode(const JsonObject& config) {
  ConfigReader reader(config, "gpt_bigcode");
  GptLikeConfig k = read_gpt_like(reader, {.family = "gpt_bigcode",
                                           .architecture = "GPTBigCodeForCausalLM",
                                           .keys = gpt2_keys(),
                                           .vocab_size = 50257,
                                           .hidden_size = 768,
                                           .num_hidden_layers = 12,
                                           .num_attention_heads = 12,
                                           .max_position_embeddings = 1024,
                                           .hidden_act = HiddenAct::gelu_pytorch_tanh,
                                           .tie_word_embeddings = true,
                                           .attention_dropout = 0.1f,
                                           .hidden_dropout = 0.1f,
                                           .embedding_dropout = 0.1f,
                                           .bos_token_id = 50256,
                                           .eos_token_id = 50256,
                                           .positions = GptLikeConfig::Positions::learned,
                                           .parallel = false});
  const bool multi_query = reader.get<bool>("multi_query", true), scaled = reader.get<bool>("scale_attn_weights", true);
  k.num_key_value_heads = multi_query ? 1 : k.num_attention_heads;
  k.fused.groups = k.num_key_value_heads;
  if (!scaled) k.attention_scale = 1;
  k.own_keys = {{"multi_query", multi_query}, {"scale_attn_weights", scaled}};
  k.names = {.prefix = "transformer.",
             .embedding = "wte",
             .positions = "wpe",
             .layers = "h",
             .attention = "attn",
             .qkv = "c_attn",
             .out = "c_proj",
             .self_norm = "ln_1",
             .feed_forward_norm = "ln_2",
             .first = "c_fc",
             .second = "c_proj",
             .final_norm = "ln_f"};
  reader.only("num_key_value_heads", k.num_key_value_heads);
  reader.only("add_cross_attention", false);
  // float32 in softmax, which tril always has, and settings of the authors' servers.
  reader.ignore({"attention_softmax_in_fp32", "scale_attention_softmax_in_fp32", "inference_runner", "max_batch_size",
                 "max_sequence_length", "pad_key_length", "pre_allocate_kv_cache", "validate_runner_input", "n_ctx"});
  ignore_summary_keys(reader);
  reader.finish();
  return std::make_unique<GptLike>(std::move(k));
}

}  // namespace tril::model
