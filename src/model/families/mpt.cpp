// mpt: positions as a bias by distance (ALiBi), no other biases [MosaicML 2023]. The keys of attention are an object of their
// own in config.json.
#include <nlohmann/json.hpp>

#include "base/printable.h"
#include "model/families/decoder_families.h"
#include "model/spec/gpt_like.h"

namespace tril::model {
namespace {

// attn_config for a saved config.json.
nlohmann::json read_mpt_attention(const JsonObject& config, GptLikeConfig& k) {
  ConfigReader reader(config, "mpt");
  reader.only("attn_type", std::string("multihead_attention"));
  reader.only("alibi", true);
  for (const char* key : {"prefix_lm", "qk_ln", "attn_uses_sequence_id"}) reader.only(key, false);
  if (reader.get<double>("clip_qkv", 0) != 0) config.fail_at("clip_qkv", "is not supported for mpt", "only null is");
  // The authors' program supports other values; transformers always takes 8.
  reader.only("alibi_bias_max", std::int64_t{8});
  reader.ignore({"attn_impl"});
  k.attention_dropout = reader.share("attn_pdrop");
  nlohmann::json written{{"attn_type", "multihead_attention"}, {"alibi", true}, {"attn_pdrop", k.attention_dropout}};
  if (k.attention_dropout == 0) written["attn_pdrop"] = 0;  // transformers requires an integer here
  if (reader.has("softmax_scale")) {
    const double scale = reader.positive("softmax_scale", 1);
    k.attention_scale = static_cast<float>(scale);
    written["softmax_scale"] = scale;
  }
  reader.finish();
  return written;
}

}  // namespace

std::unique_ptr<Model> make_mpt(const JsonObject& config) {
  ConfigReader reader(config, "mpt");
  GptLikeConfig k = read_gpt_like(reader, {.family = "mpt",
                                           .architecture = "MptForCausalLM",
                                           .keys = {.hidden_size = {"d_model", "hidden_size"},
                                                    .intermediate_size = {},
                                                    .num_hidden_layers = {"n_layers", "num_hidden_layers"},
                                                    .num_attention_heads = {"n_heads", "num_attention_heads"},
                                                    .max_position_embeddings = {"max_seq_len"},
                                                    .hidden_act = {},
                                                    .layer_norm_eps = {"layer_norm_epsilon"},
                                                    .attention_dropout = {},
                                                    .hidden_dropout = {"resid_pdrop"},
                                                    .embedding_dropout = {"emb_pdrop"}},
                                           .vocab_size = 50368,
                                           .hidden_size = 2048,
                                           .num_hidden_layers = 24,
                                           .num_attention_heads = 16,
                                           .tie_word_embeddings = true,
                                           .positions = GptLikeConfig::Positions::alibi,
                                           .parallel = false,
                                           .attention_bias = false,
                                           .attention_out_bias = false,
                                           .feed_forward_bias = false,
                                           .norm_bias = false});
  k.names = {.prefix = "transformer.",
             .embedding = "wte",
             .layers = "blocks",
             .attention = "attn",
             .qkv = "Wqkv",
             .out = "out_proj",
             .self_norm = "norm_1",
             .feed_forward_norm = "norm_2",
             .feed_forward = "ffn",
             .first = "up_proj",
             .second = "down_proj",
             .final_norm = "norm_f"};
  const nlohmann::json none = nlohmann::json::object();
  const bool says = reader.has("attn_config");
  k.own_keys["attn_config"] =
      read_mpt_attention(says ? config.object("attn_config") : JsonObject(none, config.where()), k);
  reader.only("expansion_ratio", std::int64_t{4});
  reader.only("no_bias", true);
  reader.only("embedding_fraction", 1.0);
  const std::string norm = reader.get<std::string>("norm_type", "low_precision_layernorm");
  if (norm != "low_precision_layernorm" && norm != "layernorm")  // they differ only in the precision of training
    config.fail_at("norm_type", fmt::format("'{}' is not supported for mpt", printable(norm, 40)),
                   "only low_precision_layernorm and layernorm are");
  // learned_pos_emb has an effect only without ALiBi; the others are options of the authors' program.
  reader.ignore({"learned_pos_emb", "init_config", "init_device", "tokenizer_name", "verbose"});
  reader.finish();
  return std::make_unique<GptLike>(std::move(k));
}

}  // namespace tril::model
