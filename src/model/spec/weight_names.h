// What a family may ask of the weight files.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tril::model {

/// The names of a directory's weights; nothing if it has none.
using WeightNames = std::function<std::optional<std::vector<std::string>>()>;

}  // namespace tril::model
