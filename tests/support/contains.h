// A message that says what it must.
#pragma once

#include <string>

namespace tril {

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace tril
