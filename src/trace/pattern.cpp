#include "trace/pattern.h"

namespace tril::trace {

// On a mismatch the last star takes one more character: linear in most cases, and never worse than the product of the lengths.
bool is_pattern_of(std::string_view pattern, std::string_view name) {
  std::size_t p = 0, n = 0, star = std::string_view::npos, taken = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++, taken = n;
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p, ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1, n = ++taken;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

bool covers(std::string_view pattern, std::string_view name) {
  for (std::size_t end = name.size(); end != 0 && end != std::string_view::npos; end = name.rfind('.', end - 1))
    if (is_pattern_of(pattern, name.substr(0, end))) return true;
  return false;
}

std::string_view last_name(std::string_view name) {
  return name.substr(name.rfind('.') + 1);
}

bool is_of_pairs(std::string_view name) {
  const std::string_view last = last_name(name);
  return last == "bias" || last == "scores" || last == "masked_scores" || last == "mask" || last == "weights";
}

}  // namespace tril::trace
