// Families that transformers does not have: a program in the model's own directory computes them, which tril never runs.
#pragma once

#include <string>
#include <string_view>

#include "format/json_file.h"

namespace tril::model {

/// What to do with a config.json whose family tril does not know; "" if nothing says that a program of the publisher belongs to
/// it: neither its name nor the key auto_map.
std::string advice_for_publishers_code(const JsonObject& config, std::string_view model_type);

}  // namespace tril::model
