// A JSON schema validator written for obviousness, independent of the compiler that it checks; and a generator of schemas.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "base/rng.h"

namespace tril::search::testing {

/// "" if `value` is valid, else the fault and its place.
std::string fault_of(const nlohmann::json& value, const nlohmann::json& schema, const nlohmann::json& root,
                     const std::string& at = "$");

/// A random schema of features that json_schema.h supports; some value is always valid.
nlohmann::ordered_json random_schema(RandomSequence& random, int depth = 0);

}  // namespace tril::search::testing
