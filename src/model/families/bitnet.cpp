// bitnet: Llama with a squared ReLU as gate and a norm before the last product of each sublayer [Ma et al. 2025, section 2].
// Weights in bfloat16 or float32 are read; weights packed as ternary numbers are refused.
#include "model/families/decoder_families.h"
#include "model/spec/llama_like.h"

namespace tril::model {

std::unique_ptr<Model> make_bitnet(const JsonObject& config) {
  ConfigReader reader(config, "bitnet");
  LlamaLikeConfig k = read_llama_like(reader, {.family = "bitnet",
                                               .architecture = "BitNetForCausalLM",
                                               .vocab_size = 128256,
                                               .hidden_size = 2560,
                                               .intermediate_size = 6912,
                                               .num_hidden_layers = 30,
                                               .num_attention_heads = 20,
                                               .num_key_value_heads = 5,
                                               .hidden_act = HiddenAct::relu2,
                                               .norm_eps = 1e-5,
                                               .bos_token_id = 128000,
                                               .eos_token_id = 128001,
                                               .rope_defaults = {.theta = 5e5},
                                               .attention_result_norm = "attn_sub_norm",
                                               .feed_forward_inner_norm = "ffn_sub_norm"});
  read_attention_bias(reader, k);
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model
