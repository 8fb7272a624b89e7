// New decoders with Mamba-2 layers. Heads are as wide as those of attention, twice as many, and share B and C.
#include "train/families/new_family.h"

namespace tril::train {
namespace {

using Json = nlohmann::json;
using M = const NewModel&;

// True for the layers of attention: every fourth, and at least the last.
bool attends(M m, std::int64_t layer) {
  return layer % 4 == 3 || layer + 1 == m.dec_depth;
}

Json hybrid_types(M m) {
  Json types = Json::array();
  for (std::int64_t i = 0; i < m.dec_depth; ++i) types.push_back(attends(m, i) ? "full_attention" : "linear_attention");
  return types;
}

Json hybrid(std::string_view model_type, M m, Json own) {
  own.update({{"hidden_act", m.activation},
              {"mamba_n_heads", 2 * m.num_heads},
              {"mamba_n_groups", 1},
              {"mamba_d_state", m.d_head()},
              {"mamba_expand", 2}});
  return llama_config(model_type, m, own);
}

// Granite 4's models without experts, and their factors [Granite team 2025].
Json granite_hybrid(M m) {
  return hybrid("granitemoehybrid", m,
                {{"layer_types", hybrid_types(m)},
                 {"num_local_experts", 0},
                 {"num_experts_per_tok", 0},
                 {"shared_intermediate_size", m.ffn_dim},
                 {"embedding_multiplier", 12.0},
                 {"attention_multiplier", 1.0 / static_cast<double>(m.d_head())},
                 {"residual_multiplier", 0.22},
                 {"logits_scaling", 8.0},
                 {"tie_word_embeddings", true}});
}

Json bamba(M m) {
  Json attention = Json::array();
  for (std::int64_t i = 0; i < m.dec_depth; ++i)
    if (attends(m, i)) attention.push_back(i);
  return hybrid("bamba", m, {{"attn_layer_indices", attention}});
}

// Mamba-2 and feed-forwards in turn; attention in place of every fourth Mamba-2.
Json nemotron_h(M m) {
  Json types = Json::array();
  for (std::int64_t i = 0; i < m.dec_depth; ++i)
    types.push_back(i % 2 == 1 ? "mlp" : i % 8 == 6 ? "attention" : "mamba");
  return llama_config("nemotron_h", m,
                      {{"head_dim", m.d_head()},
                       {"mlp_hidden_act", m.activation},
                       {"layers_block_type", types},
                       {"mamba_num_heads", 2 * m.num_heads},
                       {"mamba_head_dim", m.d_head()},
                       {"n_groups", 1},
                       {"ssm_state_size", m.d_head()}});
}

// The publisher's order of layers, with attention over the whole text in the last; two of eight experts, and a shared one.
Json lara_mini(M m) {
  constexpr const char* kPattern[]{"linear_attention", "sliding_attention", "linear_attention", "full_attention",
                                   "sliding_attention"};
  Json types = Json::array();
  for (std::int64_t i = 0; i < m.dec_depth; ++i)
    types.push_back(i + 1 == m.dec_depth ? "full_attention" : kPattern[i % std::ssize(kPattern)]);
  Json own = delta_rule_config(m);
  own.erase("full_attention_interval");
  own.update({{"hidden_act", m.activation},
              {"layer_types", types},
              {"sliding_window", m.window()},
              {"num_experts", 8},
              {"num_experts_per_tok", 2},
              {"moe_intermediate_size", m.expert_dim()},
              {"shared_expert_intermediate_size", m.expert_dim()}});
  return llama_config("lara_mini", m, own);
}

constexpr NewFamily::Dropouts in_attention{.attention = true};

}  // namespace

std::span<const NewFamily> new_hybrids() {
  static constexpr NewFamily list[]{
      {.arch = "mamba2",
       .config =
           [](M m) {
             return llama_config("mamba2", m,
                                 {{"hidden_act", m.activation},
                                  {"head_dim", m.d_head()},
                                  {"num_heads", 2 * m.num_heads},
                                  {"n_groups", 1},
                                  {"state_size", m.d_head()}});
           },
       .activation = "silu",
       .dropouts = {}},
      {.arch = "lara_mini",
       .config = lara_mini,
       .activation = "silu",
       .dropouts = in_attention,
       .experts = true,
       .router_aux_loss = 0.001},
      {.arch = "granitemoehybrid", .config = granite_hybrid, .activation = "silu", .dropouts = in_attention},
      {.arch = "bamba", .config = bamba, .activation = "silu", .dropouts = in_attention},
      {.arch = "falcon_h1",
       .config =
           [](M m) {
             return hybrid("falcon_h1", m, {{"mamba_d_ssm", nullptr}});
           },
       .activation = "silu",
       .dropouts = in_attention},
      {.arch = "nemotron_h", .config = nemotron_h, .activation = "relu2", .dropouts = in_attention},
  };
  return list;
}

}  // namespace tril::train
