// What values of a chat template look like: Python's str() and repr(), and JSON.
#pragma once

#include <string>

#include "chat/template_value.h"

namespace tril::chat {

/// What {{ value }} prints: Python's str().
std::string to_text(const Value& value);
/// Python's repr().
std::string to_repr(const Value& value);
/// Python's ascii(): a repr() whose other characters are escapes.
std::string to_ascii(const Value& value);
/// Python's repr of a float: the shortest digits that say it.
std::string float_text(double value);

struct JsonStyle {
  std::optional<std::string> indent;  ///< what each level begins with; unset: all in one line
  std::string item_separator;         ///< empty: ", ", or "," where each item has a line of its own
  std::string key_separator = ": ";
  bool sort_keys = false, ascii = false;
};
/// json.dumps. @throws Error for what JSON cannot say
std::string to_json(const Value& value, const JsonStyle& style);

}  // namespace tril::chat
