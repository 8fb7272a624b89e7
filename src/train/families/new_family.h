// What a new model of each family begins with: its config.json, as a function of the sizes that were asked for. The family's own
// reader takes this config.json, so a new model and a published one are built by the same code.
//
// A family's own shape (norms, rotary base, windows, experts, ranks of latent attention, recurrent layers) is that of its
// publisher's smallest model, scaled down: windows are a quarter of the longest text, mixtures have 8 experts of which a token
// takes 2. A key that is left out has the default of the family's reader, which is that of `transformers`.
#pragma once

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/special_ids.h"

namespace tril::train {

/// The sizes and rates of a new model, by the names of the options.
struct NewModel {
  std::int64_t d_model = 128, num_heads = 4, ffn_dim = 256, enc_depth = 4, dec_depth = 4, max_positions = 512;
  std::int64_t source_vocab = 0, target_vocab = 0;
  bool shared_vocabulary = true;
  SpecialIds special;  ///< of the target side
  std::string activation;
  double dropout = 0, embedding_dropout = 0, attention_dropout = 0, activation_dropout = 0;

  std::int64_t d_head() const { return d_model / num_heads; }
  /// An even part of a head.
  std::int64_t part_of_head(std::int64_t divisor) const {
    return std::max<std::int64_t>(2, d_head() / divisor / 2 * 2);
  }
  /// Heads of keys and values: a quarter of the heads, or the next smaller number that divides them.
  std::int64_t kv_heads() const;
  /// A sliding window: a quarter of the longest text.
  std::int64_t window() const { return std::max<std::int64_t>(1, max_positions / 4); }
  /// The width of one of the two experts that a token takes; together they are as wide as the feed-forward.
  std::int64_t expert_dim() const { return std::max<std::int64_t>(1, ffn_dim / 2); }
};

/// A value of `arch`.
struct NewFamily {
  std::string_view arch;  ///< a name of model::family_list(), or marian_ssru
  nlohmann::json (*config)(const NewModel& m);
  bool encoder_decoder = false;
  std::string_view activation = {};  ///< of a new model, unless `activation` says another; "": it has only its own
  /// Whether it has these dropouts.
  struct Dropouts {
    bool layers = false, embedding = false, attention = false, activation = false;
    bool one_rate = false;  ///< a preset's `dropout` is the rate of all of them
  } dropouts = {};
  bool chooses_ffn_dim = true;     ///< false: always 4 d_model
  bool layer_drop = false;         ///< training may skip its layers
  bool depth_scaled_init = false;  ///< takes `depth_scaled_init`
  bool two_vocabularies = false;   ///< its sides may have vocabularies of their own
  bool experts = false;            ///< takes `router_aux_loss`
  double router_aux_loss = 0;  ///< its default: the router_aux_loss_coef of `transformers`, 0 if the family has none
};

/// All values of `arch`, in the order of model::family_list().
std::span<const NewFamily> new_families();
std::vector<std::string> architectures();
/// @throws Error(usage) with the nearest name if there is none
const NewFamily& new_family(std::string_view arch);

/// The config.json of a new model. @param own_keys  KEY=VALUE, which change or add keys other than sizes; VALUE is JSON or a text,
/// and a dot in KEY leads into an object
/// @throws Error(usage) for a key that another option sets
nlohmann::json new_config(const NewFamily& family, const NewModel& m, const std::vector<std::string>& own_keys);

/// The families by file.
std::span<const NewFamily> new_encoder_decoders();
std::span<const NewFamily> new_gpt_likes();
std::span<const NewFamily> new_llama_likes();
std::span<const NewFamily> new_mixtures();
std::span<const NewFamily> new_hybrids();

/// The keys that every decoder has: model_type, vocabulary and special tokens.
nlohmann::json decoder_config(std::string_view model_type, const NewModel& m);
/// Likewise the sizes, by Llama's names.
nlohmann::json llama_config(std::string_view model_type, const NewModel& m,
                            const nlohmann::json& own = nlohmann::json::object());
/// The keys of a gated delta rule in three layers of four, and attention in the fourth [Yang et al. 2025].
nlohmann::json delta_rule_config(const NewModel& m);
/// The layer_types of Liquid AI's models: attention in every third layer and at least in the last, else convolutions.
nlohmann::json lfm_layer_types(const NewModel& m);
/// A token's id; null: there is none.
nlohmann::json id_json(std::int32_t id);
/// Rotary positions with this base.
nlohmann::json rotary_json(double theta);

}  // namespace tril::train
