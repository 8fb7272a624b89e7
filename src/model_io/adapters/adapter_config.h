// adapter_config.json of a PEFT directory: the kind of adapter and the modules that it changes. Source: LoraConfig and
// check_target_module_exists of `peft` 0.21. Unsupported keys that change results are refused by name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "format/json_file.h"

namespace tril::model {

/// Selects modules by their names in `transformers`: by a list of whole names or last components ("q_proj"), or by a
/// regular expression that matches the whole name.
struct ModuleChoice {
  std::vector<std::string> names;
  std::optional<std::string> pattern;

  bool empty() const { return names.empty() && !pattern; }
  bool has(std::string_view module, const std::string& where) const;
};

struct AdapterConfig {
  std::string where;  ///< names the file in errors
  std::int64_t rank = 8;
  double alpha = 8;
  bool rank_stabilised = false;  ///< rsLoRA: scaled by alpha / sqrt(rank) [Kalajdzievski 2023]
  bool dora = false;
  ModuleChoice targets, excluded;
  bool all_linear = false;              ///< every linear layer, instead of `targets`
  std::vector<std::string> saved;       ///< modules_to_save: regular expressions of names
  std::vector<std::string> parameters;  ///< target_parameters: whole names or ends of names ("experts.down_proj")
  std::vector<std::int64_t> layers;     ///< layers_to_transform; empty: all
  /// layers_pattern: regular expressions of the names of lists of layers, "layers" in "model.layers.3"; empty: any list.
  std::vector<std::string> layer_lists;
  std::vector<std::pair<std::string, double>> ranks, alphas;  ///< rank_pattern and alpha_pattern

  /// The rank of the module's matrices.
  std::int64_t rank_of(std::string_view module) const;
  /// The factor of the module's product B A.
  double scale_of(std::string_view module) const;
  /// True if the configuration selects this module, a linear layer or an embedding table.
  bool changes(std::string_view module) const;
  /// The names of the module's parameters that target_parameters select, innermost wrapper of `peft` first: in the order in
  /// which `transformers` declares them. Empty: the module is adapted as a whole, or not at all.
  std::vector<std::string> parameters_of(std::string_view module) const;
};

/// @param text   of the file
/// @param where  names the file in errors
/// @throws Error naming a kind of adapter or an option that is not supported
AdapterConfig read_adapter_config(std::string_view text, const std::string& where);

}  // namespace tril::model
