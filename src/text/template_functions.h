// What a chat template may call: filters ("| trim"), tests ("is defined"), methods of strings and mappings, with the
// meaning that Jinja and Python give them.
#pragma once

#include <string>
#include <string_view>

#include "text/template_value.h"

namespace tril::chat {

/// How much a template may do. Everything that makes text or lists pays, so that a hostile template ends soon.
class Budget {
 public:
  /// @throws Error where it is used up
  void pay(std::size_t work);

 private:
  std::size_t left_ = 50'000'000;
};

/// value | name(arguments). @throws Error for an unknown filter, and for arguments that it does not take
Value apply_filter(std::string_view name, const Value& value, const Arguments& arguments, Budget& budget);

/// value is name(arguments)
bool apply_test(std::string_view name, const Value& value, const Arguments& arguments);

/// value.name(...): a method of a string or a mapping, or an undefined value.
Value find_method(const Value& value, std::string_view name, Budget& budget);

/// value[key], and what value.name means where `name` is no method; undefined where it is not there.
Value item(const Value& value, const Value& key);

/// The elements that a loop goes over: a list's, a mapping's keys, a string's characters.
List elements(const Value& value, Budget& budget);

/// a in b
bool contains(const Value& b, const Value& a, Budget& budget);

/// The value of the argument at `index`, or of this name, or nullptr.
const Value* argument(const Arguments& arguments, std::size_t index, std::string_view name);

[[noreturn]] void refuse(const std::string& what, const std::string& hint = {});

}  // namespace tril::chat
