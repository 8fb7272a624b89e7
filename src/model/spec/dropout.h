// A dropout probability of a configuration.
#pragma once

#include <string_view>

namespace tril::model {

/// A dropout probability and its name in the configuration.
struct Dropout {
  std::string_view key;
  float probability = 0;
};

}  // namespace tril::model
