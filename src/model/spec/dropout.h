// A dropout of a configuration.
#pragma once

#include <string_view>

namespace tril::model {

/// A probability of dropout, by the name that its configuration has for it.
struct Dropout {
  std::string_view key;
  float probability = 0;
};

}  // namespace tril::model
