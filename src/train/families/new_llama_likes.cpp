// New decoders with a feed-forward in each layer, by Llama's keys.
#include "train/families/new_family.h"

namespace tril::train {
namespace {

using Json = nlohmann::json;
using M = const NewModel&;

// Every head has keys and values of its own.
Json with_all_heads(std::string_view model_type, M m, Json own = Json::object()) {
  own["num_key_value_heads"] = m.num_heads;
  return llama_config(model_type, m, own);
}

Json with_activation(std::string_view key, M m, Json own = Json::object()) {
  own[std::string(key)] = m.activation;
  return own;
}

Json hidden_act(M m, Json own = Json::object()) {
  return with_activation("hidden_act", m, std::move(own));
}

// Gemma's: a head's width and the scale of scores are keys.
Json gemma(std::string_view model_type, M m, Json own) {
  own.update({{"head_dim", m.d_head()}, {"query_pre_attn_scalar", m.d_head()}, {"sliding_window", m.window()}});
  return llama_config(model_type, m, with_activation("hidden_activation", m, std::move(own)));
}

// Gemma 4's smallest models: the upper half of the layers reads the keys and values of earlier ones, and each token has an input of
// an eighth of the width for every layer. Windows are in all layers but every sixth, and at least the last of each half.
Json gemma4(M m) {
  const std::int64_t shared = m.dec_depth >= 4 ? m.dec_depth / 2 : 0, own = m.dec_depth - shared;
  Json types = Json::array();
  for (std::int64_t i = 0; i < m.dec_depth; ++i)
    types.push_back((i + 1) % 6 == 0 || i + 1 == own || i + 1 == m.dec_depth ? "full_attention" : "sliding_attention");
  return llama_config("gemma4_text", m,
                      with_activation("hidden_activation", m,
                                      {{"head_dim", m.d_head()},
                                       {"global_head_dim", m.d_head()},
                                       {"sliding_window", m.window()},
                                       {"layer_types", types},
                                       {"num_kv_shared_layers", shared},
                                       {"vocab_size_per_layer_input", m.target_vocab},
                                       {"hidden_size_per_layer_input", std::max<std::int64_t>(1, m.d_model / 8)},
                                       {"final_logit_softcapping", 30.0}}));
}

// Latent attention: ranks of a quarter of the width for queries, and of an eighth for keys and values.
Json latent(std::string_view model_type, M m, Json own) {
  own.update({{"num_key_value_heads", m.num_heads},
              {"q_lora_rank", std::max<std::int64_t>(1, m.d_model / 4)},
              {"kv_lora_rank", std::max<std::int64_t>(1, m.d_model / 8)},
              {"qk_rope_head_dim", m.part_of_head(2)},
              {"qk_nope_head_dim", m.d_head()},
              {"v_head_dim", m.d_head()}});
  return llama_config(model_type, m, hidden_act(m, std::move(own)));
}

// Granite 3's factors [Granite team 2024].
Json granite_factors(M m) {
  return {{"embedding_multiplier", 12.0},
          {"attention_multiplier", 1.0 / static_cast<double>(m.d_head())},
          {"residual_multiplier", 0.22},
          {"logits_scaling", 8.0}};
}

// Queries that grow beyond the longest text of training, by yarn's keys [Ministral 3: Mistral AI 2025]; a larger factor may extend
// the model later.
Json growing_queries(M m) {
  Json rope = rotary_json(1e6);
  rope.update({{"rope_type", "yarn"},
               {"factor", 1.0},
               {"original_max_position_embeddings", m.max_positions},
               {"llama_4_scaling_beta", 0.1}});
  return rope;
}

constexpr NewFamily::Dropouts attention_only{.attention = true};

}  // namespace

std::span<const NewFamily> new_llama_likes() {
  static constexpr NewFamily list[]{
      {.arch = "llama",
       .config =
           [](M m) {
             return llama_config("llama", m,
                                 hidden_act(m, {{"rope_parameters", rotary_json(5e5)}, {"rms_norm_eps", 1e-5}}));
           },
       .activation = "silu",
       .dropouts = attention_only},
      {.arch = "cwm",
       .config =
           [](M m) {
             return llama_config("cwm", m,
                                 hidden_act(m, {{"head_dim", m.d_head()},
                                                {"sliding_window", m.window()},
                                                {"rope_parameters", rotary_json(1e6)}}));
           },
       .activation = "silu",
       .dropouts = attention_only},
      {.arch = "exaone",
       .config =
           [](M m) {
             return llama_config("exaone", m, hidden_act(m, {{"head_dim", m.d_head()}}));
           },
       .activation = "silu",
       .dropouts = attention_only},
      {.arch = "internlm2",
       .config =
           [](M m) {
             return llama_config("internlm2", m, hidden_act(m, {{"bias", false}}));
           },
       .activation = "silu",
       .dropouts = attention_only},
      {.arch = "internlm3",
       .config =
           [](M m) {
             return llama_config("internlm3", m, hidden_act(m, {{"head_dim", m.d_head()}}));
           },
       .activation = "silu",
       .dropouts = attention_only},
      {.arch = "iquestcoder",
       .config =
           [](M m) {
             return llama_config("iquestcoder", m, hidden_act(m, {{"head_dim", m.d_head()}}));
           },
       .activation = "silu",
       .dropouts = attention_only},
      {.arch = "hyperclovax",
       .config =
           [](M m) {
             Json own = granite_factors(m);
             own["logits_scaling"] = 1.0 / 8;
             return llama_config("hyperclovax", m, hidden_act(m, std::move(own)));
           },
       .activation = "silu",
       .dropouts = attention_only},
      {.arch = "mistral",
       .config =
           [](M m) {
             return llama_config("mistral", m, hidden_act(m, {{"sliding_window", m.window()}, {"rms_norm_eps", 1e-5}}));
           },
       .activation = "silu",
       .dropouts = attention_only},
      {.arch = "qwen2",
       .config =
           [](M m) {
             return llama_config("qwen2", m,
                                 hidden_act(m, {{"rope_parameters", rotary_json(1e6)}, {"tie_word_embeddings", true}}));
           },
       .activation = "silu",
       .dropouts = attention_only},
      {.arch = "qwen3",
       .config =
           [](M m) {
             return llama_config("qwen3", m,
                                 hidden_act(m, {{"rope_parameters", rotary_json(1e6)},
                                                {"tie_word_embeddings", true},
                                                {"head_dim", m.d_head()}}));
           },
       .activation = "silu",
       .dropouts = attention_only},
      {.arch = "phi3",
       .config =
           [](M m) {
             return with_all_heads("phi3", m,
                                   hidden_act(m, {{"sliding_window", m.window()},
                                                  {"resid_pdrop", m.dropout},
                                                  {"embd_pdrop", m.embedding_dropout}}));
           },
       .activation = "silu",
       .dropouts = {.layers = true, .embedding = true, .attention = true}},
      {.arch = "gemma",
       .config =
           [](M m) {
             return llama_config(
                 "gemma", m,
                 with_activation("hidden_activation", m, {{"head_dim", m.d_head()}, {"num_key_value_heads", 1}}));
           },
       .activation = "gelu_pytorch_tanh",
       .dropouts = attention_only},
      {.arch = "gemma2",
       .config = [](M m) { return gemma("gemma2", m, Json::object()); },
       .activation = "gelu_pytorch_tanh",
       .dropouts = attention_only},
      {.arch = "olmo2",
       .config =
           [](M m) {
             return with_all_heads("olmo2", m, hidden_act(m, {{"rope_parameters", rotary_json(5e5)}}));
           },
       .activation = "silu",
       .dropouts = attention_only},
      {.arch = "granite",
       .config =
           [](M m) {
             Json own = granite_factors(m);
             own.update({{"tie_word_embeddings", true}, {"rms_norm_eps", 1e-5}});
             return llama_config("granite", m, hidden_act(m, own));
           },
       .activation = "silu",
       .dropouts = attention_only},
      {.arch = "granite_swa",
       .config =
           [](M m) {
             Json own = granite_factors(m);
             own.update({{"tie_word_embeddings", true}, {"sliding_window", m.window()}});
             return llama_config("granite_swa", m, hidden_act(m, own));
           },
       .activation = "silu",
       .dropouts = attention_only},
      {.arch = "gemma3_text",
       .config =
           [](M m) {
             return gemma("gemma3_text", m, {{"sliding_window_pattern", std::min<std::int64_t>(6, m.dec_depth)}});
           },
       .activation = "gelu_pytorch_tanh",
       .dropouts = attention_only},
      {.arch = "gemma4_text", .config = gemma4, .activation = "gelu_pytorch_tanh", .dropouts = attention_only},
      {.arch = "minicpm3",
       .config =
           [](M m) {
             return latent("minicpm3", m, {{"dim_model_base", std::max<std::int64_t>(1, m.d_model / 10)}});
           },
       .activation = "silu",
       .dropouts = attention_only},
      {.arch = "youtu",
       .config = [](M m) { return latent("youtu", m, Json::object()); },
       .activation = "silu",
       .dropouts = attention_only},
      {.arch = "smollm3",
       .config = [](M m) { return llama_config("smollm3", m, hidden_act(m)); },
       .activation = "silu",
       .dropouts = attention_only},
      {.arch = "olmo",
       .config = [](M m) { return with_all_heads("olmo", m, hidden_act(m)); },
       .activation = "silu",
       .dropouts = attention_only},
      {.arch = "olmo3",
       .config =
           [](M m) {
             return with_all_heads("olmo3", m, hidden_act(m, {{"sliding_window", m.window()}}));
           },
       .activation = "silu",
       .dropouts = attention_only},
      {.arch = "exaone4",
       .config =
           [](M m) {
             return llama_config(
                 "exaone4", m, hidden_act(m, {{"rope_parameters", rotary_json(1e6)}, {"sliding_window", m.window()}}));
           },
       .activation = "silu",
       .dropouts = attention_only},
      {.arch = "cohere",
       .config = [](M m) { return with_all_heads("cohere", m, hidden_act(m)); },
       .activation = "silu",
       .dropouts = attention_only},
      {.arch = "cohere2",
       .config =
           [](M m) {
             return llama_config("cohere2", m, hidden_act(m, {{"sliding_window", m.window()}}));
           },
       .activation = "silu",
       .dropouts = attention_only},
      {.arch = "ministral",
       .config =
           [](M m) {
             return llama_config("ministral", m, hidden_act(m, {{"sliding_window", m.window()}}));
           },
       .activation = "silu",
       .dropouts = attention_only},
      {.arch = "ministral3",
       .config =
           [](M m) {
             return llama_config("ministral3", m,
                                 hidden_act(m, {{"head_dim", m.d_head()}, {"rope_parameters", growing_queries(m)}}));
           },
       .activation = "silu",
       .dropouts = attention_only},
      {.arch = "hunyuan_v1_dense",
       .config =
           [](M m) {
             return llama_config("hunyuan_v1_dense", m, hidden_act(m, {{"head_dim", m.d_head()}}));
           },
       .activation = "silu",
       .dropouts = attention_only},
      {.arch = "glm",
       .config =
           [](M m) {
             return llama_config("glm", m, hidden_act(m, {{"head_dim", m.d_head()}}));
           },
       .activation = "silu",
       .dropouts = attention_only},
      {.arch = "glm4",
       .config =
           [](M m) {
             return llama_config("glm4", m, hidden_act(m, {{"head_dim", m.d_head()}}));
           },
       .activation = "silu",
       .dropouts = attention_only},
      {.arch = "qwen3_5_text",
       .config = [](M m) { return llama_config("qwen3_5_text", m, hidden_act(m, delta_rule_config(m))); },
       .activation = "silu",
       .dropouts = attention_only},
      {.arch = "lfm2",
       .config =
           [](M m) {
             return llama_config("lfm2", m, {{"layer_types", lfm_layer_types(m)}, {"block_auto_adjust_ff_dim", false}});
           },
       .dropouts = attention_only},
      {.arch = "jais2",
       .config = [](M m) { return llama_config("jais2", m, hidden_act(m)); },
       .activation = "relu2",
       .dropouts = attention_only},
      {.arch = "vaultgemma",
       .config = [](M m) { return gemma("vaultgemma", m, Json::object()); },
       .activation = "gelu_pytorch_tanh",
       .dropouts = attention_only},
      {.arch = "lfm3",
       .config =
           [](M m) {
             return llama_config("lfm3", m,
                                 {{"head_dim", m.d_head()},
                                  {"layer_types", lfm_layer_types(m)},
                                  {"sliding_window", m.window()},
                                  {"rope_parameters",
                                   {{"full_attention", rotary_json(1e6)}, {"sliding_attention", rotary_json(1e6)}}}});
           },
       .dropouts = attention_only},
      {.arch = "arcee",
       .config = [](M m) { return llama_config("arcee", m, hidden_act(m)); },
       .activation = "relu2",
       .dropouts = attention_only},
      {.arch = "apertus",
       .config =
           [](M m) {
             return llama_config("apertus", m, {{"rope_parameters", rotary_json(5e5)}});
           },
       .dropouts = attention_only},
      {.arch = "nemotron",
       .config = [](M m) { return llama_config("nemotron", m, hidden_act(m)); },
       .activation = "relu2",
       .dropouts = attention_only},
      {.arch = "persimmon",
       .config =
           [](M m) {
             return with_all_heads("persimmon", m, hidden_act(m, {{"hidden_dropout", m.dropout}}));
           },
       .activation = "relu2",
       .dropouts = {.layers = true, .attention = true}},
      {.arch = "stablelm",
       .config =
           [](M m) {
             return with_all_heads("stablelm", m, hidden_act(m, {{"hidden_dropout", m.dropout}}));
           },
       .activation = "silu",
       .dropouts = {.layers = true, .attention = true}},
      {.arch = "starcoder2",
       .config =
           [](M m) {
             return llama_config("starcoder2", m,
                                 hidden_act(m, {{"sliding_window", m.window()},
                                                {"residual_dropout", m.dropout},
                                                {"embedding_dropout", m.embedding_dropout}}));
           },
       .activation = "gelu_pytorch_tanh",
       .dropouts = {.layers = true, .embedding = true, .attention = true}},
      {.arch = "seed_oss",
       .config =
           [](M m) {
             return llama_config("seed_oss", m,
                                 hidden_act(m, {{"head_dim", m.d_head()}, {"residual_dropout", m.dropout}}));
           },
       .activation = "silu",
       .dropouts = {.layers = true, .attention = true}},
      {.arch = "ernie4_5",
       .config =
           [](M m) {
             return llama_config("ernie4_5", m, hidden_act(m, {{"head_dim", m.d_head()}}));
           },
       .activation = "silu",
       .dropouts = attention_only},
      {.arch = "helium",
       .config =
           [](M m) {
             return llama_config("helium", m, hidden_act(m, {{"head_dim", m.d_head()}}));
           },
       .activation = "silu",
       .dropouts = attention_only},
      {.arch = "nanochat",
       .config = [](M m) { return with_all_heads("nanochat", m, hidden_act(m)); },
       .activation = "relu2",
       .dropouts = attention_only},
      {.arch = "bitnet",
       .config = [](M m) { return llama_config("bitnet", m, hidden_act(m)); },
       .activation = "relu2",
       .dropouts = attention_only},
  };
  return list;
}

}  // namespace tril::train
