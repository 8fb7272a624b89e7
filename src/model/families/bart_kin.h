// What `transformers` takes for granted of BART and the families like it.
#pragma once

#include <string_view>

#include "model/families/bart_config.h"

namespace tril::model {

/// A family of the kin of BART.
struct BartKin {
  BartFamily family;
  BartConfig defaults;  ///< what absent keys of config.json mean
};

/// @param name  the family's model_type, all but marian
/// @throws Error(usage) if there is none of this name
const BartKin& bart_kin(std::string_view name);

}  // namespace tril::model
