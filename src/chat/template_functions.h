// The functions of a chat template: filters ("| trim"), tests ("is defined") and methods of values, with the semantics
// of Jinja and Python.
#pragma once

#include <string_view>

#include "chat/template_arguments.h"

namespace tril::chat {

/// Whether a filter or a test of this name exists.
enum class Known : std::uint8_t {
  yes,
  refused,  ///< exists in Jinja, but is not supported
  no,
};
Known knows_filter(std::string_view name);
Known knows_test(std::string_view name);
/// Whether Python's strings, numbers or mappings have a method of this name that is not supported.
bool is_refused_method(std::string_view name);

/// value | name(arguments). @throws Error for an unknown filter, or wrong arguments
Value apply_filter(std::string_view name, const Value& value, const Arguments& arguments, Budget& budget);

/// value is name(arguments)
bool apply_test(std::string_view name, const Value& value, const Arguments& arguments, Budget& budget);

/// A method of a value, or an undefined value.
Value find_method(const Value& value, std::string_view name, Budget& budget);
Value find_string_method(const Value& value, std::string_view name, Budget& budget);

/// value.name: a method, or else a member, or undefined. @throws Error if `value` is undefined
Value attribute(const Value& value, std::string_view name, Budget& budget);
/// value[key]: a member, or else a method.
Value subscript(const Value& value, const Value& key, Budget& budget);
/// value[from:to:step], each an integer or None.
Value slice(const Value& value, const List& bounds, Budget& budget);

/// Iterates over a value: a list's elements, a mapping's keys, a string's characters, a generator's values.
/// @throws Error if it is not iterable
Generator::Next over(const Value& value, Budget& budget);
/// All elements of over(value).
List elements(const Value& value, Budget& budget);

/// a in b
bool contains(const Value& b, const Value& a, Budget& budget);

}  // namespace tril::chat
