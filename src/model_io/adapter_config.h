// adapter_config.json of a PEFT directory: what kind of adapter it is and which modules it changes. Source: LoraConfig
// and check_target_module_exists of `peft` 0.21. Keys that change results and are not implemented are refused by name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "format/json_file.h"

namespace tril::model {

/// Modules by their names in `transformers`: a list of whole names or of their ends after a dot, or a regular expression
/// for whole names.
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
  bool all_linear = false;           ///< instead of `targets`
  std::vector<std::string> saved;    ///< modules_to_save: by regular expressions of their names
  std::vector<std::int64_t> layers;  ///< layers_to_transform; empty: all
  std::vector<std::pair<std::string, double>> ranks, alphas;  ///< rank_pattern and alpha_pattern

  /// The rank that the module's matrices have.
  std::int64_t rank_of(std::string_view module) const;
  /// The factor of the module's product.
  double scale_of(std::string_view module) const;
  /// Whether the configuration has the adapter change this module, which is a linear layer or a table.
  bool changes(std::string_view module) const;
};

/// @param text   of the file
/// @param where  names the file in errors
/// @throws Error naming a kind of adapter or an option that is not supported
AdapterConfig read_adapter_config(std::string_view text, const std::string& where);

}  // namespace tril::model
