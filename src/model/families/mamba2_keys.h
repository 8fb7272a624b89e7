// Keys of config.json that the families with Mamba-2 layers share.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "model/families/layer_kinds.h"
#include "model/spec/llama_like_config.h"

namespace tril::model {

/// Reads the keys mamba_n_heads, mamba_n_groups, mamba_d_state, mamba_d_head, mamba_d_conv, mamba_expand, mamba_conv_bias and
/// mamba_proj_bias of IBM's families.
/// @param inner  heads times their width; 0: mamba_expand times hidden_size
nn::Mamba2::Options read_mamba2(ConfigReader& config, LlamaLikeConfig& k, std::int64_t inner = 0);

/// time_step_limit, bounds of the steps dt: only those that bound nothing are supported. Older files have Infinity, version 5 of
/// `transformers` writes an object for it.
void read_step_limit(ConfigReader& config);

/// One of several kinds for each layer, as the file spells them, from `key`; `otherwise` if the key is absent.
/// @param kinds  the supported ones
std::vector<std::string> read_types_of_layers(ConfigReader& config, const LlamaLikeConfig& k, const std::string& key,
                                              std::initializer_list<LayerKind> kinds,
                                              std::vector<std::string> otherwise);

}  // namespace tril::model
