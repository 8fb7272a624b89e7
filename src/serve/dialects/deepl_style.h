// DeepL's formality, as the style that a language model's prompt asks for.
#pragma once

#include <string>
#include <vector>

namespace tril::serve {

/// The values of `formality`.
inline std::vector<std::string> formalities() {
  return {"default", "more", "less", "prefer_more", "prefer_less"};
}
/// "formal", "informal", or "" for the default.
inline std::string style_of(const std::string& formality) {
  return formality.ends_with("more") ? "formal" : formality.ends_with("less") ? "informal" : "";
}
/// True if a model without a place for a style translates without one.
inline bool may_be_left_out(const std::string& formality) {
  return formality.starts_with("prefer");
}

}  // namespace tril::serve
