// A filter or a method at work: what it is called on, what it is given, and what it may cost.
#pragma once

#include <string>
#include <string_view>

#include "text/template_arguments.h"

namespace tril::chat {

struct Call {
  const Value& value;  ///< before the "|" or the "."
  const Arguments& arguments;
  Budget& budget;
  std::string_view name;

  bool is(std::string_view other) const { return name == other; }
  const Value& given(std::size_t i, std::string_view parameter) const { return needed(arguments, i, parameter, name); }
  const std::string& given_text(std::size_t i, std::string_view parameter) const {
    const std::string& what = text_of(given(i, parameter), name);
    budget.pay_text(what.size());
    return what;
  }
};

/// A filter or a method that may be called. @param parameters  their names; "...": whatever another filter or a test takes
struct Callee {
  std::string_view name, parameters;
  Value (*call)(const Call&);
};

/// A filter takes whatever can be printed for a text, a method is one of a text.
template <std::string (*map)(std::string_view)>
Value in_case(const Call& c) {
  const std::string text = printed(c.value, c.budget);
  c.budget.pay(4 * text.size());
  return map(text);
}

}  // namespace tril::chat
