// The properties and defaults that `transformers` has for BART and related families.
#pragma once

#include <string_view>

#include "model/families/bart_config.h"

namespace tril::model {

/// What absent keys of config.json mean in bart itself, and in most of these families.
BartConfig bart_defaults();

/// A family that class Bart computes.
struct BartVariant {
  BartFamily family;
  BartConfig defaults;  ///< what absent keys of config.json mean
};

/// @param name  a model_type of bart.h, all but marian
/// @throws Error(usage) if there is none of this name
const BartVariant& bart_variant(std::string_view name);
/// The same; null if there is none of this name.
const BartVariant* find_bart_variant(std::string_view name);

}  // namespace tril::model
