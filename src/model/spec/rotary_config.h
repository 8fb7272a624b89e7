// Reads rotary positions from config.json: rope_parameters, or rope_theta, rope_scaling and partial_rotary_factor in
// older files.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "model/spec/config_reader.h"
#include "nn/rotary.h"

namespace tril::model {

struct RotaryDefaults {
  std::int64_t head_dim = 0;
  std::int64_t full_head_dim = 0;  ///< in layers of full attention, for read_rotary_by_type(); 0: head_dim
  std::int64_t max_positions = 0;  ///< max_position_embeddings
  double theta = 10000, partial = 1;
  /// True if the family rotates the share partial_rotary_factor of each head. For the others `transformers` rotates whole
  /// heads in any case, or fails.
  bool turns_part = false;
  /// True if `transformers` computes the frequencies of a part, but cannot rotate a part of a head.
  bool refuses_part = false;
  /// The family's own value of a top-level original_max_position_embeddings; 0: the common key is used.
  std::int64_t original = 0;
  /// True if rope_theta and partial_rotary_factor are read outside rope_parameters. GPT-NeoX has its own names
  /// for them, and `transformers` ignores these.
  bool reads_top_level = true;
  /// True if a top-level original_max_position_embeddings takes precedence.
  bool original_at_top = true;
  /// True if the family has a fixed `alpha` with rope_type "dynamic".
  bool reads_alpha = false;
  /// True if longrope's factor of cosines and sines has the keys `short_mscale` and `long_mscale`, which must be equal.
  bool reads_mscales = false;
  /// True if scores grow with mscale_all_dim: nn::RotaryOptions::score_factor().
  bool reads_score_factor = false;
  /// True if queries are scaled by their positions, by the key llama_4_scaling_beta.
  bool scales_queries = false;
  /// True if the family has mrope_section and mrope_interleaved, the rotation by positions in images. They do not change
  /// the rotation of text.
  bool reads_sections = false;
  bool interleaved = false, reversed = false;  ///< nn::RotaryOptions'
  /// JSON: the rope_parameters of a file with neither rope_parameters nor rope_scaling; "": those of rope_theta alone.
  std::string_view parameters = {};
};

/// Rotary positions by layer type.
struct RotaryByType {
  nn::RotaryOptions full, sliding;
};

/// @throws Error naming the key that is wrong, or for an unknown kind of scaling
nn::RotaryOptions read_rotary(ConfigReader& config, const RotaryDefaults& defaults);

/// Reads rope_parameters.full_attention and rope_parameters.sliding_attention. Older files have rope_theta and
/// rope_scaling for full attention; the keys of rope_scaling replace those of rope_parameters.full_attention, if a file has
/// both. For sliding attention older files have `sliding_theta_key`, whose default is `sliding_theta`, or rope_theta if
/// `sliding_theta_key` is empty.
/// @throws Error naming the key, and for a rope_scaling that has `type` without `rope_type`: `transformers` ignores it
RotaryByType read_rotary_by_type(ConfigReader& config, const RotaryDefaults& full,
                                 const std::string& sliding_theta_key = {}, double sliding_theta = 0);
/// Reads rope_parameters for families without older files: `transformers` reads neither rope_theta nor rope_scaling.
/// @param otherwise  the rope_parameters of a file without them
/// @param windows  by layer; 0: full attention
/// @throws Error for rope_scaling, or if the type of a layer has no rope_theta
RotaryByType read_nested_rotary(ConfigReader& config, const RotaryDefaults& full, const nlohmann::json& otherwise,
                                const std::vector<std::int32_t>& windows);
/// Adds both to a config. @param full_dim, sliding_dim  the widths of heads in the two kinds of layers
void write_rotary_by_type(nlohmann::ordered_json& config, const RotaryByType& rotary, std::int64_t full_dim,
                          std::int64_t sliding_dim);

/// The partial_rotary_factor that rotates `dim` values of a head: readers multiply it by head_dim and round down.
double partial_factor(std::int64_t dim, std::int64_t head_dim);

/// Adds rope_parameters, rope_theta and rope_scaling to a config: both spellings, so that every version can read it.
/// @param default_partial  the rotated fraction of a head if files do not give it
void write_rotary(nlohmann::ordered_json& config, const nn::RotaryOptions& options, std::int64_t head_dim,
                  double default_partial = 1);

}  // namespace tril::model
