// What `transformers` takes for granted of BART and the families like it.
#pragma once

#include <string_view>

#include "model/families/bart_config.h"

namespace tril::model {

/// A family that the code of BART computes.
struct BartVariant {
  BartFamily family;
  BartConfig defaults;  ///< what absent keys of config.json mean
};

/// @param name  a model_type of bart.h, all but marian
/// @throws Error(usage) if there is none of this name
const BartVariant& bart_variant(std::string_view name);

}  // namespace tril::model
