// The tests of chat templates, by name.
#include <fmt/format.h>

#include <algorithm>

#include "base/printable.h"
#include "text/letter_case.h"
#include "text/template_functions.h"

namespace tril::chat {
namespace {

// Python's "is": the very same, and for small values one like it.
bool same(const Value& a, const Value& b) {
  if (const auto* x = a.get<List>(), *y = b.get<List>(); x || y) return x == y;
  if (const auto* x = a.get<Dict>(), *y = b.get<Dict>(); x || y) return x == y;
  return a.type_name() == b.type_name() && equal(a, b);
}

}  // namespace

bool apply_test(std::string_view name, const Value& value, const Arguments& a, Budget& budget) {
  if (!a.named.empty() || a.positional.size() > 1)
    refuse(fmt::format("the test \"{}\" takes one argument at most, without a name", printable(name)));
  const auto other = [&]() -> const Value& {
    const Value& given = needed(a, 0, "other", name);
    budget.pay(8 * std::min(value.weight(), given.weight()));
    return given;
  };
  if (name == "defined") return !value.is_undefined();
  if (name == "undefined") return value.is_undefined();
  if (name == "none") return value.is_none();
  if (name == "string") return value.get<std::string>() != nullptr;
  if (name == "number") return value.number().has_value();
  if (name == "integer") return value.get<std::int64_t>() != nullptr;
  if (name == "float") return value.get<double>() != nullptr;
  if (name == "boolean") return value.get<bool>() != nullptr;
  if (name == "true") return value.get<bool>() && *value.get<bool>();
  if (name == "false") return value.get<bool>() && !*value.get<bool>();
  if (name == "mapping") return value.get<Dict>() != nullptr;
  if (name == "sequence" || name == "iterable")
    return value.get<std::string>() || value.get<List>() || value.get<Dict>() || value.is_undefined();
  if (name == "callable") return value.get<Callable>() != nullptr;
  if (name == "equalto" || name == "eq" || name == "==") return equal(value, other());
  if (name == "sameas") return same(value, other());
  if (name == "ne" || name == "!=") return !equal(value, other());
  if (name == "lt" || name == "lessthan" || name == "<") return less(value, other());
  if (name == "gt" || name == "greaterthan" || name == ">") return less(other(), value);
  if (name == "le" || name == "<=") return !less(other(), value);
  if (name == "ge" || name == ">=") return !less(value, other());
  if (name == "in") return contains(needed(a, 0, "other", name), value, budget);
  if (const auto n = value.integer()) {
    if (name == "odd") return *n % 2 != 0;
    if (name == "even") return *n % 2 == 0;
    if (name == "divisibleby") {
      const auto by = other().integer();
      if (!by) refuse(fmt::format("divisibleby takes a whole number, not {}", other().type_name()));
      if (*by == 0) refuse("division by zero");
      if (*by == -1) return true;
      return *n % *by == 0;
    }
  }
  if (const auto* s = value.get<std::string>()) {
    if (name == "lower" || name == "upper") {
      budget.pay(8 * s->size());  // each character's case is looked up
      return name == "lower" ? is_lower_case(*s) : is_upper_case(*s);
    }
  }
  refuse(fmt::format("the test \"{}\" of {} is not supported", printable(name), value.type_name()));
}

}  // namespace tril::chat
