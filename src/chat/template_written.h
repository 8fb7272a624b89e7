// Values of a chat template as text: Python's str() and repr(), and JSON.
#pragma once

#include <string>

#include "chat/template_value.h"

namespace tril::chat {

/// The text that {{ value }} prints: Python's str().
std::string to_text(const Value& value);
/// Python's repr().
std::string to_repr(const Value& value);
/// Python's ascii(): repr() with escapes for non-ASCII characters.
std::string to_ascii(const Value& value);
/// Python's repr of a float: the shortest digits that identify it.
std::string float_text(double value);

struct JsonStyle {
  std::optional<std::string> indent;  ///< of each level; unset: all in one line
  std::string item_separator;         ///< empty: ", ", or "," if each item has a line of its own
  std::string key_separator = ": ";
  bool sort_keys = false, ascii = false;
};
/// json.dumps. @throws Error for a value that JSON cannot express
std::string to_json(const Value& value, const JsonStyle& style);

}  // namespace tril::chat
