// falcon: parallel sublayers after one norm, with a single key head; in the newer architecture each sublayer has its own
// norm, and heads are grouped [Almazrouei et al. 2023, section 4]. One matrix holds each group's queries, its key and its value.
#include <nlohmann/json.hpp>

#include "model/families/decoder_families.h"
#include "model/spec/gpt_like.h"

namespace tril::model {
namespace {

// Reads the number of key heads and the layout of the matrix of q, k, v.
void read_falcon_heads(ConfigReader& reader, GptLikeConfig& k, bool newer) {
  const JsonObject& config = reader.json();
  const std::int64_t heads = k.num_attention_heads, key_heads = reader.size("num_kv_heads", heads);
  const bool multi_query = reader.get<bool>("multi_query", true);
  k.own_keys["multi_query"] = multi_query, k.own_keys["num_kv_heads"] = key_heads;
  k.num_key_value_heads = newer ? key_heads : multi_query ? 1 : heads;
  if (heads % k.num_key_value_heads != 0)
    config.fail_at("num_kv_heads", fmt::format("{} key heads do not divide {} heads", key_heads, heads));
  if (!newer && !multi_query && key_heads != heads)
    config.fail_at("num_kv_heads",
                   fmt::format("{} is not supported with multi_query and new_decoder_architecture false", key_heads),
                   fmt::format("only the {} of num_attention_heads is", heads));
  k.fused.groups = k.num_key_value_heads;
}

// Reads which sublayers are parallel, and their norms.
void read_falcon_norms(ConfigReader& reader, GptLikeConfig& k, bool newer) {
  const JsonObject& config = reader.json();
  k.parallel = reader.get<bool>("parallel_attn", true);
  if (newer && !k.parallel)
    config.fail_at("parallel_attn", "false is not supported with new_decoder_architecture", "only true is");
  constexpr const char* key = "num_ln_in_parallel_attn";
  const std::int64_t norms = reader.size(key, newer ? 2 : 1);
  if (norms > 2 || (norms == 2 && k.parallel && !newer))
    config.fail_at(key, fmt::format("{} is not supported{}", norms, newer ? "" : " without new_decoder_architecture"),
                   newer ? "only 1 and 2 are" : "only 1 is");
  k.own_keys["parallel_attn"] = k.parallel;
  k.own_keys[key] = newer ? nlohmann::json(norms) : nlohmann::json(nullptr);
  k.one_norm = k.parallel && norms == 1;
  if (newer && norms == 2) k.names.self_norm = "ln_attn", k.names.feed_forward_norm = "ln_mlp";
}

}  // namespace

std::unique_ptr<Model> make_falcon(const JsonObject& config) {
  ConfigReader reader(config, "falcon");
  GptLikeConfig k = read_gpt_like(reader, {.family = "falcon",
                                           .architecture = "FalconForCausalLM",
                                           .keys = {.hidden_size = {"hidden_size", "n_embed"},
                                                    .intermediate_size = {"ffn_hidden_size"},
                                                    .hidden_act = {"activation"},
                                                    .layer_norm_eps = {"layer_norm_epsilon"},
                                                    .hidden_dropout = {"hidden_dropout"}},
                                           .vocab_size = 65024,
                                           .hidden_size = 4544,
                                           .num_hidden_layers = 32,
                                           .num_attention_heads = 71,
                                           .tie_word_embeddings = true,
                                           .bos_token_id = 11,
                                           .eos_token_id = 11});
  const bool newer = reader.get<bool>("new_decoder_architecture", false);
  k.own_keys = {{"new_decoder_architecture", newer}, {"alibi", false}};
  read_falcon_heads(reader, k, newer);
  read_falcon_norms(reader, k, newer);
  const bool bias = reader.get<bool>("bias", false);
  k.attention_bias = k.attention_out_bias = k.feed_forward_bias = bias;
  k.own_keys["bias"] = bias;
  auto& names = k.names;
  names.prefix = "transformer.", names.embedding = "word_embeddings", names.layers = "h", names.final_norm = "ln_f";
  names.attention = "self_attention", names.qkv = "query_key_value", names.out = "dense";
  names.first = "dense_h_to_4h", names.second = "dense_4h_to_h";
  // transformers rounds ALiBi's biases to bfloat16 by position, so they are not a function of distance.
  reader.only("alibi", false);
  reader.only("apply_residual_connection_post_layernorm", false);
  reader.ignore({"intermediate_size"});  // a key of other families, which transformers ignores too
  reader.finish();
  return std::make_unique<GptLike>(std::move(k));
}

}  // namespace tril::model
