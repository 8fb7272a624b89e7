// A call of a filter or a method: its subject, its arguments and the budget.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "chat/template_arguments.h"

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

/// A filter or a method. @param parameters  their names, in the form of check_arguments(); "...": any
struct Callee {
  std::string_view name, parameters;
  Value (*call)(const Call&);
};

/// The method of `self` with this name in `methods`; or an undefined value.
template <class Methods>
Value bound_method(const Methods& methods, const Value& self, std::string_view name, Budget& budget) {
  for (const Callee& method : methods)
    if (method.name == name)
      return Value(Callable{std::string(name),
                            [self, &method, &budget](const Arguments& a) {
                              if (method.parameters != "...")
                                check_arguments(a, method.parameters, fmt::format("{}()", method.name));
                              if (const auto* s = self.get<std::string>()) budget.pay_text(s->size());
                              if (const auto* d = self.get<Dict>()) budget.pay(4 * d->size());
                              return method.call({self, a, budget, method.name});
                            }})
          .holding(self);
  return Undefined{std::string(name)};
}

}  // namespace tril::chat
