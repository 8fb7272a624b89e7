// bamba: Llama with Mamba-2 in most layers; attention with half of each head rotated in the others [IBM 2024].
#include <algorithm>
#include <nlohmann/json.hpp>

#include "model/families/decoder_families.h"
#include "model/families/mamba2_keys.h"
#include "model/spec/llama_like.h"

namespace tril::model {

namespace {

constexpr double half_of_head = 0.5;

// transformers reads no partial_rotary_factor outside rope_parameters.
void check_part(const JsonObject& config) {
  constexpr const char* key = "partial_rotary_factor";
  const auto rope = config.find_object("rope_parameters");
  if (const auto part = config.find<double>(key); part && *part != half_of_head && !(rope && rope->has(key)))
    config.fail_at(key, fmt::format("{} has no effect in `transformers`, which rotates half of each head", *part),
                   "put it into rope_parameters, or remove it");
}

}  // namespace

std::unique_ptr<Model> make_bamba(const JsonObject& config) {
  ConfigReader reader(config, "bamba");
  check_part(config);
  LlamaLikeConfig k{.family = "bamba", .architecture = "BambaForCausalLM"};
  k.vocab_size = 128000, k.intermediate_size = 14336, k.num_key_value_heads = 8;
  k.max_position_embeddings = 262144, k.norm_eps = 1e-5, k.pad_token_id = 0;
  k.rope_defaults = {.partial = half_of_head, .turns_part = true};
  k.norm_names = {.before_feed_forward = "pre_ff_layernorm", .last = "model.final_layernorm"};
  k.feed_forward_name = "feed_forward", k.recurrence_name = "mamba";
  k = read_llama_like(reader, std::move(k));
  read_attention_bias(reader, k);
  k.mlp_bias = read_own_bool(reader, k, "mlp_bias", false);
  k.recurrence = read_mamba2(reader, k);
  const auto attention = reader.get<std::vector<std::int64_t>>("attn_layer_indices", {});
  k.own_keys["attn_layer_indices"] = attention;
  for (std::int64_t i = 0; i < k.num_hidden_layers; ++i)
    k.recurrent.push_back(std::ranges::find(attention, i) == attention.end());
  // Settings of outputs and of training, and the publisher's number of rotated values.
  reader.ignore({"num_logits_to_keep", "z_loss_coefficient", "attn_rotary_emb"});
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model
