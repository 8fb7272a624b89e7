// What a chat template may call: filters ("| trim"), tests ("is defined"), methods of strings and mappings, with the
// meaning that Jinja and Python give them.
#pragma once

#include <string_view>

#include "text/template_arguments.h"

namespace tril::chat {

/// value | name(arguments). @throws Error for an unknown filter, and for arguments that it does not take
Value apply_filter(std::string_view name, const Value& value, const Arguments& arguments, Budget& budget);

/// value is name(arguments)
bool apply_test(std::string_view name, const Value& value, const Arguments& arguments, Budget& budget);

/// value.name(...): a method of a string or a mapping, or an undefined value.
Value find_method(const Value& value, std::string_view name, Budget& budget);

/// value[key], and what value.name means where `name` is no method; undefined where it is not there.
Value item(const Value& value, const Value& key);

/// The elements that a loop goes over: a list's, a mapping's keys, a string's characters.
List elements(const Value& value, Budget& budget);

/// a in b
bool contains(const Value& b, const Value& a, Budget& budget);

}  // namespace tril::chat
