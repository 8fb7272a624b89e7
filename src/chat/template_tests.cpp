// The tests of chat templates by name.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/printable.h"
#include "chat/template_functions.h"
#include "chat/template_operators.h"
#include "unicode/letter_case.h"

namespace tril::chat {
namespace {

// Python's "is": identity; for small values, equality of the same type.
bool same(const Value& a, const Value& b) {
  if (const auto* x = a.get<List>(), *y = b.get<List>(); x || y) return x == y;
  if (const auto* x = a.get<Dict>(), *y = b.get<Dict>(); x || y) return x == y;
  return a.type_name() == b.type_name() && equal(a, b);
}

bool is_sequence(const Value& value) {
  return value.get<std::string>() || (value.get<List>() && !value.is_view()) || value.get<Dict>() ||
         value.is_undefined();
}

bool is_callable(const Value& v) {
  const auto* f = v.get<Callable>();
  return v.is_undefined() || (f && f->call);
}

// value % by of two numbers.
double rest(const Value& value, const Value& by, Budget& budget) {
  if (!value.number() || !by.number())
    refuse(fmt::format("{} cannot be divided by {}", value.type_name(), by.type_name()));
  return *binary("%", value, by, budget).number();
}

using Plain = bool (*)(const Value&);
constexpr auto plain_tests = std::to_array<std::pair<std::string_view, Plain>>({
    {"defined", [](const Value& v) { return !v.is_undefined(); }},
    {"undefined", [](const Value& v) { return v.is_undefined(); }},
    {"none", [](const Value& v) { return v.is_none(); }},
    {"string", [](const Value& v) { return v.get<std::string>() != nullptr; }},
    {"number", [](const Value& v) { return v.number().has_value(); }},
    {"integer", [](const Value& v) { return v.get<std::int64_t>() != nullptr; }},
    {"float", [](const Value& v) { return v.get<double>() != nullptr; }},
    {"boolean", [](const Value& v) { return v.get<bool>() != nullptr; }},
    {"true", [](const Value& v) { return v.get<bool>() && *v.get<bool>(); }},
    {"false", [](const Value& v) { return v.get<bool>() && !*v.get<bool>(); }},
    {"mapping", [](const Value& v) { return v.get<Dict>() != nullptr; }},
    {"sequence", is_sequence},
    {"iterable",
     [](const Value& v) { return is_sequence(v) || v.get<List>() || v.get<std::shared_ptr<Generator>>() != nullptr; }},
    {"callable", is_callable},
    {"escaped", [](const Value& v) { return v.is_markup(); }},
    {"filter", [](const Value& v) { return v.get<std::string>() && knows_filter(*v.get<std::string>()) != Known::no; }},
    {"test", [](const Value& v) { return v.get<std::string>() && knows_test(*v.get<std::string>()) != Known::no; }},
});

// Synonyms of comparison operators.
constexpr auto comparisons = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"==", "=="},
    {"eq", "=="},
    {"equalto", "=="},
    {"!=", "!="},
    {"ne", "!="},
    {"<", "<"},
    {"lt", "<"},
    {"lessthan", "<"},
    {">", ">"},
    {"gt", ">"},
    {"greaterthan", ">"},
    {"<=", "<="},
    {"le", "<="},
    {">=", ">="},
    {"ge", ">="},
});

constexpr auto other_tests =
    std::to_array<std::string_view>({"divisibleby", "even", "in", "lower", "odd", "sameas", "upper"});

template <class Pairs>
auto second(const Pairs& pairs, std::string_view name) {
  const auto* const found =
      std::find_if(pairs.begin(), pairs.end(), [&](const auto& one) { return one.first == name; });
  return found == pairs.end() ? decltype(found->second){} : found->second;
}

}  // namespace

Known knows_test(std::string_view name) {
  const bool known = second(plain_tests, name) || !second(comparisons, name).empty() ||
                     std::find(other_tests.begin(), other_tests.end(), name) != other_tests.end();
  return known ? Known::yes : Known::no;
}

bool apply_test(std::string_view name, const Value& value, const Arguments& a, Budget& budget) {
  const bool takes_one =
      !second(comparisons, name).empty() || name == "in" || name == "sameas" || name == "divisibleby";
  if (!a.named.empty() || a.positional.size() > (takes_one ? 1 : 0))
    refuse(fmt::format("the test \"{}\" takes {} argument{}", printable(name), takes_one ? "one" : "no",
                       takes_one ? ", without a name" : ""));
  if (name == "filter" || name == "test") check_key(value);
  if (const Plain test = second(plain_tests, name)) return test(value);
  const auto other = [&]() -> const Value& {
    const Value& given = needed(a, 0, "other", name);
    budget.pay(8 * std::min(value.weight(), given.weight()));
    return given;
  };
  if (const std::string_view op = second(comparisons, name); !op.empty()) return compares(op, value, other(), budget);
  if (name == "sameas") return same(value, other());
  if (name == "in") return contains(needed(a, 0, "other", name), value, budget);
  if (name == "odd") return rest(value, std::int64_t{2}, budget) == 1;
  if (name == "even") return rest(value, std::int64_t{2}, budget) == 0;
  if (name == "divisibleby") return rest(value, other(), budget) == 0;
  if (name == "lower" || name == "upper") {
    const std::string text = printed(value, budget);
    budget.pay(8 * text.size());  // looks up each character's case
    return name == "lower" ? is_lower_case(text) : is_upper_case(text);
  }
  refuse(fmt::format("the test \"{}\" is not supported", printable(name)));
}

}  // namespace tril::chat
