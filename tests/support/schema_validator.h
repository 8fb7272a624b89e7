// A JSON schema validator written for obviousness, apart from the compiler that it checks; and a maker of schemas.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "base/rng.h"

namespace tril::search::testing {

/// "" where `value` is valid, else what is wrong and where.
std::string fault_of(const nlohmann::json& value, const nlohmann::json& schema, const nlohmann::json& root,
                     const std::string& at = "$");

/// A schema of random parts, of what json_schema.h understands; always one that some value is valid against.
nlohmann::ordered_json random_schema(RandomSequence& random, int depth = 0);

}  // namespace tril::search::testing
