// Families that `transformers` computes and tril does not, and what they need. docs/families.md has the same tables.
#pragma once

#include <span>
#include <string_view>

namespace tril::model {

struct LeftOut {
  std::string_view missing;   ///< the mechanism, as the table says it
  std::string_view families;  ///< their model types, separated by spaces
};

/// By what is missing.
std::span<const LeftOut> left_out();

/// What this family needs that is missing; "": it is in no list.
std::string_view missing_for(std::string_view model_type);

}  // namespace tril::model
