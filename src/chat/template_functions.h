// What a chat template may call: filters ("| trim"), tests ("is defined"), methods of values, with the meaning that Jinja
// and Python give them.
#pragma once

#include <string_view>

#include "chat/template_arguments.h"

namespace tril::chat {

/// Whether there is a filter, or a test, of this name.
enum class Known : std::uint8_t {
  yes,
  refused,  ///< Jinja has it, and it is not supported
  no,
};
Known knows_filter(std::string_view name);
Known knows_test(std::string_view name);
/// Whether a string, a number or a mapping of Python has a method of this name that is not supported.
bool is_refused_method(std::string_view name);

/// value | name(arguments). @throws Error for an unknown filter, and for arguments that it does not take
Value apply_filter(std::string_view name, const Value& value, const Arguments& arguments, Budget& budget);

/// value is name(arguments)
bool apply_test(std::string_view name, const Value& value, const Arguments& arguments, Budget& budget);

/// A method of a value, or an undefined value.
Value find_method(const Value& value, std::string_view name, Budget& budget);
Value find_string_method(const Value& value, std::string_view name, Budget& budget);

/// value.name: a method, or else a member. Undefined where there is neither. @throws Error of an undefined value
Value attribute(const Value& value, std::string_view name, Budget& budget);
/// value[key]: a member, or else a method.
Value subscript(const Value& value, const Value& key, Budget& budget);
/// value[from:to:step], each an integer or none.
Value slice(const Value& value, const List& bounds, Budget& budget);

/// What goes over a value once: a list's elements, a mapping's keys, a string's characters, what a generator gives.
/// @throws Error where it cannot be gone over
Generator::Next over(const Value& value, Budget& budget);
/// All of it.
List elements(const Value& value, Budget& budget);

/// a in b
bool contains(const Value& b, const Value& a, Budget& budget);

}  // namespace tril::chat
