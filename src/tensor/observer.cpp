#include "tensor/observer.h"

namespace tril {

std::string Observer::full(std::string_view name) const {
  std::string text;
  for (const std::string& part : parts_) {
    if (!text.empty()) text += '.';
    text += part;
  }
  if (!text.empty() && !name.empty()) text += '.';
  return text += name;
}

}  // namespace tril
