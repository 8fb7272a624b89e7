// gemma3_text: gemma2 with norms of queries and keys instead of the soft cap of scores, a window in five layers of six, and
// a rotary base for each of the two kinds of layers [Gemma team 2025, "Gemma 3", section 2].
#include <cmath>
#include <nlohmann/json.hpp>

#include "model/families/decoder_families.h"
#include "model/spec/llama_like.h"

namespace tril::model {

std::unique_ptr<Model> make_gemma3_text(const JsonObject& config) {
  ConfigReader reader(config, "gemma3_text");
  LlamaLikeConfig k = read_llama_like(reader, {.family = "gemma3_text",
                                               .architecture = "Gemma3ForCausalLM",
                                               .vocab_size = 262208,
                                               .hidden_size = 2304,
                                               .intermediate_size = 9216,
                                               .num_hidden_layers = 26,
                                               .num_attention_heads = 8,
                                               .num_key_value_heads = 4,
                                               .head_dim = 256,
                                               .max_position_embeddings = 131072,
                                               .hidden_act = HiddenAct::gelu_pytorch_tanh,
                                               .tie_word_embeddings = true,
                                               .bos_token_id = 2,
                                               .eos_token_id = 1,
                                               .pad_token_id = 0,
                                               .rope_defaults = {.theta = 1e6},
                                               .rope_by_type = true,
                                               .norm_names = sandwich_norms(),
                                               .hidden_act_key = "hidden_activation"});
  reader.ignore({"hidden_act"});  // a copy that no version reads
  read_attention_bias(reader, k);
  read_query_scale(reader, k);
  reader.only("attn_logit_softcapping", 0.0);  // `transformers` stores it and does not use it
  k.logit_softcap = read_softcap(reader, k, "final_logit_softcapping", 0);
  read_window_pattern(reader, k, 4096, reader.get<std::int64_t>("sliding_window_pattern", 6));
  const RotaryByType rotary = read_rotary_by_type(reader, k.rope_defaults, "rope_local_base_freq", 1e4);
  k.rope = rotary.full, k.sliding_rope = rotary.sliding;
  k.embedding_scale = std::sqrt(static_cast<float>(k.hidden_size));
  k.head_norms = rms_head_norms(k);
  k.norms_store_offset = true;
  reader.only("use_bidirectional_attention", false);
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model
