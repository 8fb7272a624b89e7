// gemma2: gemma with norms before and after each sublayer, windows in every other layer, soft caps of scores and
// logits, and its own scale of scores [Gemma team 2024, "Gemma 2", section 2]. vaultgemma: the same with norms before each
// sublayer alone [VaultGemma team 2025].
#include "model/families/gemma2.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "model/families/decoder_families.h"
#include "model/spec/llama_like.h"

namespace tril::model {

LlamaLikeConfig read_gemma2(ConfigReader& reader, const std::string& family, const std::string& architecture) {
  LlamaLikeConfig k = read_llama_like(reader, {.family = family,
                                               .architecture = architecture,
                                               .vocab_size = 256000,
                                               .hidden_size = 2304,
                                               .intermediate_size = 9216,
                                               .num_hidden_layers = 26,
                                               .num_attention_heads = 8,
                                               .num_key_value_heads = 4,
                                               .head_dim = 256,
                                               .max_position_embeddings = 8192,
                                               .hidden_act = HiddenAct::gelu_pytorch_tanh,
                                               .tie_word_embeddings = true,
                                               .bos_token_id = 2,
                                               .eos_token_id = 1,
                                               .pad_token_id = 0,
                                               .norm_names = sandwich_norms(),
                                               .hidden_act_key = "hidden_activation"});
  reader.ignore({"hidden_act", "sliding_window_size"});  // copies that no version reads
  read_attention_bias(reader, k);
  read_query_scale(reader, k);
  k.attention_softcap = read_softcap(reader, k, "attn_logit_softcapping", 50);
  k.logit_softcap = read_softcap(reader, k, "final_logit_softcapping", 30);
  read_window_pattern(reader, k, 4096, 2);
  k.embedding_scale = std::sqrt(static_cast<float>(k.hidden_size));
  k.norms_store_offset = true;
  reader.only("use_bidirectional_attention", false);
  return k;
}

std::unique_ptr<Model> make_gemma2(const JsonObject& config) {
  ConfigReader reader(config, "gemma2");
  LlamaLikeConfig k = read_gemma2(reader, "gemma2", "Gemma2ForCausalLM");
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

std::unique_ptr<Model> make_vaultgemma(const JsonObject& config) {
  ConfigReader reader(config, "vaultgemma");
  LlamaLikeConfig k = read_gemma2(reader, "vaultgemma", "VaultGemmaForCausalLM");
  k.norm_names.after_attention = k.norm_names.after_feed_forward = "";
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model
