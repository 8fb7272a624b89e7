// The names that lists of layers in config.json give to the kinds of layers in families with Mamba: those of `transformers` 5, and
// those of publishers' files and of version 4.
#pragma once

#include <string_view>

namespace tril::model {

struct LayerKind {
  std::string_view name, older;
  constexpr bool is(std::string_view type) const { return type == name || type == older; }
};

inline constexpr LayerKind kMambaLayer{"linear_attention", "mamba"}, kAttentionLayer{"full_attention", "attention"};
/// Those of nemotron_h, whose layers have one sublayer.
inline constexpr LayerKind kFeedForwardLayer{"mlp", "mlp"}, kExpertLayer{"moe", "moe"};

}  // namespace tril::model
