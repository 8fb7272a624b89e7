// New decoders after GPT-2, each by its own keys, and tril's own decoder with linear attention.
#include "train/families/new_family.h"

namespace tril::train {
namespace {

using Json = nlohmann::json;
using M = const NewModel&;

// What the family calls its sizes.
struct SizeNames {
  const char *width, *layers, *heads, *ffn, *positions;
};

Json sized(std::string_view model_type, const SizeNames& names, M m, const Json& own) {
  Json j = decoder_config(model_type, m);
  j.update({{names.width, m.d_model}, {names.layers, m.dec_depth}, {names.heads, m.num_heads}});
  if (names.ffn) j[names.ffn] = m.ffn_dim;
  if (names.positions) j[names.positions] = m.max_positions;
  j.update(own);
  return j;
}

constexpr SizeNames gpt2_names{"n_embd", "n_layer", "n_head", "n_inner", "n_positions"};
constexpr SizeNames common_names{"hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size",
                                 "max_position_embeddings"};

Json gpt2_like(std::string_view model_type, M m, Json own = Json::object()) {
  own.update({{"activation_function", m.activation},
              {"resid_pdrop", m.dropout},
              {"embd_pdrop", m.embedding_dropout},
              {"attn_pdrop", m.attention_dropout}});
  return sized(model_type, gpt2_names, m, own);
}

// Full and windowed attention take turns.
Json neo_layers(M m) {
  Json types = Json::array({Json::array({{"global", "local"}, m.dec_depth / 2})});
  if (m.dec_depth % 2 != 0) types.push_back(Json::array({Json::array({"global"}), 1}));
  return types;
}

constexpr NewFamily::Dropouts of_gpt2{.layers = true, .embedding = true, .attention = true};
constexpr NewFamily::Dropouts of_layers{.layers = true, .attention = true};

}  // namespace

std::span<const NewFamily> new_gpt_likes() {
  static constexpr NewFamily list[]{
      {.arch = "gpt2",
       .config = [](M m) { return gpt2_like("gpt2", m); },
       .activation = "gelu_new",
       .dropouts = of_gpt2},
      {.arch = "opt",
       .config =
           [](M m) {
             return sized(
                 "opt",
                 {"hidden_size", "num_hidden_layers", "num_attention_heads", "ffn_dim", "max_position_embeddings"}, m,
                 {{"activation_function", m.activation},
                  {"dropout", m.dropout},
                  {"attention_dropout", m.attention_dropout}});
           },
       .activation = "relu",
       .dropouts = of_layers},
      {.arch = "gpt_neox",
       .config =
           [](M m) {
             return sized("gpt_neox", common_names, m,
                          {{"hidden_act", m.activation},
                           {"hidden_dropout", m.dropout},
                           {"attention_dropout", m.attention_dropout}});
           },
       .activation = "gelu",
       .dropouts = of_layers},
      {.arch = "phi",
       .config =
           [](M m) {
             return sized("phi", common_names, m,
                          {{"hidden_act", m.activation},
                           {"resid_pdrop", m.dropout},
                           {"embd_pdrop", m.embedding_dropout},
                           {"attention_dropout", m.attention_dropout}});
           },
       .activation = "gelu_new",
       .dropouts = of_gpt2},
      {.arch = "gptj",
       .config =
           [](M m) {
             return gpt2_like("gptj", m, {{"rotary_dim", m.part_of_head(4)}});
           },
       .activation = "gelu_new",
       .dropouts = of_gpt2},
      {.arch = "codegen",
       .config =
           [](M m) {
             return gpt2_like("codegen", m, {{"rotary_dim", m.part_of_head(2)}});
           },
       .activation = "gelu_new",
       .dropouts = of_gpt2},
      {.arch = "gpt_neo",
       .config =
           [](M m) {
             return sized("gpt_neo",
                          {"hidden_size", "num_layers", "num_heads", "intermediate_size", "max_position_embeddings"}, m,
                          {{"activation_function", m.activation},
                           {"attention_types", neo_layers(m)},
                           {"window_size", m.window()},
                           {"resid_dropout", m.dropout},
                           {"embed_dropout", m.embedding_dropout},
                           {"attention_dropout", m.attention_dropout}});
           },
       .activation = "gelu_new",
       .dropouts = of_gpt2},
      {.arch = "gpt_bigcode",
       .config = [](M m) { return gpt2_like("gpt_bigcode", m); },
       .activation = "gelu_pytorch_tanh",
       .dropouts = of_gpt2},
      {.arch = "bloom",
       .config =
           [](M m) {
             return sized("bloom", {"hidden_size", "n_layer", "n_head", nullptr, nullptr}, m,
                          {{"hidden_dropout", m.dropout}, {"attention_dropout", m.attention_dropout}});
           },
       .dropouts = of_layers,
       .chooses_ffn_dim = false},
      // transformers takes only whole numbers for the dropout of attention weights.
      {.arch = "mpt",
       .config =
           [](M m) {
             return sized("mpt", {"d_model", "n_layers", "n_heads", nullptr, "max_seq_len"}, m,
                          {{"resid_pdrop", m.dropout}, {"emb_pdrop", m.embedding_dropout}});
           },
       .dropouts = {.layers = true, .embedding = true},
       .chooses_ffn_dim = false},
      {.arch = "falcon",
       .config =
           [](M m) {
             return sized("falcon",
                          {"hidden_size", "num_hidden_layers", "num_attention_heads", "ffn_hidden_size",
                           "max_position_embeddings"},
                          m,
                          {{"activation", m.activation},
                           {"hidden_dropout", m.dropout},
                           {"attention_dropout", m.attention_dropout}});
           },
       .activation = "gelu",
       .dropouts = of_layers},
      {.arch = "xglm",
       .config =
           [](M m) {
             return sized("xglm", {"d_model", "num_layers", "attention_heads", "ffn_dim", "max_position_embeddings"}, m,
                          {{"activation_function", m.activation},
                           // A larger one would take a position's sinusoid away.
                           {"pad_token_id", m.special.pad < 2 ? id_json(m.special.pad) : Json()},
                           {"dropout", m.dropout},
                           {"attention_dropout", m.attention_dropout},
                           {"activation_dropout", m.activation_dropout}});
           },
       .activation = "gelu",
       .dropouts = {.layers = true, .attention = true, .activation = true}},
      {.arch = "biogpt",
       .config =
           [](M m) {
             return sized("biogpt", common_names, m,
                          {{"hidden_act", m.activation},
                           {"hidden_dropout_prob", m.dropout},
                           {"attention_probs_dropout_prob", m.attention_dropout},
                           {"activation_dropout", m.activation_dropout}});
           },
       .activation = "gelu",
       .dropouts = {.layers = true, .attention = true, .activation = true}},
      {.arch = "linear_decoder",
       .config =
           [](M m) {
             return sized("tril", {"d_model", "num_layers", "num_heads", "d_ff", nullptr}, m,
                          {{"architecture", "linear_decoder"},
                           {"activation", m.activation},
                           {"dropout", m.dropout},
                           {"embedding_dropout", m.embedding_dropout}});
           },
       .activation = "gelu_new",
       .dropouts = {.layers = true, .embedding = true}},
  };
  return list;
}

}  // namespace tril::train
