// What a family's reader may ask about the weight files.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tril::model {

/// Returns the names of a model's weights; nothing if there are no weight files.
using WeightNames = std::function<std::optional<std::vector<std::string>>()>;

}  // namespace tril::model
