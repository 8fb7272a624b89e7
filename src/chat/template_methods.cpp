// The methods of mappings and lists that chat templates may call, and Python's methods that they may not.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/element.h"
#include "chat/template_call.h"
#include "chat/template_functions.h"
#include "chat/template_lists.h"
#include "chat/template_text.h"

namespace tril::chat {
namespace {

const Dict& dict(const Call& c) {
  return *c.value.get<Dict>();
}
const List& list(const Call& c) {
  return *c.value.get<List>();
}

Value get(const Call& c) {
  const Value& key = c.given(0, "key");
  check_key(key);
  c.budget.pay(cost_of_find(dict(c), key));
  if (const Value* found = find(dict(c), key)) return *found;
  const Value* otherwise = argument(c.arguments, 1, "default");
  return otherwise ? *otherwise : Value(None{});
}

Value values(const Call& c) {
  List all;
  c.budget.pay(4 * dict(c).size());
  for (const auto& [key, member] : dict(c)) all.push_back(member);
  return Value::sequence(std::move(all), Sequence::values);
}

constexpr auto dict_methods = std::to_array<Callee>({
    {"items", "",
     [](const Call& c) {
       c.budget.pay(20 * dict(c).size());
       return Value::sequence(pairs_of(dict(c)), Sequence::items);
     }},
    {"keys", "", [](const Call& c) { return Value::sequence(elements(c.value, c.budget), Sequence::keys); }},
    {"values", "", values},
    {"get", "key default /", get},
    {"copy", "", [](const Call& c) { return c.value; }},
});

Value count(const Call& c) {
  const Value& what = c.given(0, "value");
  return static_cast<std::int64_t>(std::count_if(list(c).begin(), list(c).end(), [&](const Value& one) {
    c.budget.pay(cost_of_equal(one, what));
    return equal(one, what);
  }));
}

Value index(const Call& c) {
  const Value& what = c.given(0, "value");
  if (c.value.is_range() && c.arguments.positional.size() > 1) refuse("index() of a range takes only a value");
  const auto n = std::ssize(list(c));
  const auto bound = [&](std::size_t i, std::string_view name, std::int64_t otherwise) {
    const std::int64_t at = number_argument(c.arguments, i, name, otherwise);
    return std::clamp<std::int64_t>(at < 0 ? at + n : at, 0, n);
  };
  const std::int64_t end = bound(2, "stop", n);
  for (std::int64_t i = bound(1, "start", 0); i < end; ++i) {
    const Value& one = element(list(c), i);
    c.budget.pay(cost_of_equal(one, what));
    if (equal(one, what)) return i;
  }
  refuse("index(): the value was not found");
}

constexpr auto list_methods = std::to_array<Callee>({
    {"count", "value /", count},
    {"index", "value start stop /", index},
});
constexpr auto copied_list_methods = std::to_array<Callee>({
    {"copy", "", [](const Call& c) { return c.value; }},
});

constexpr auto string_refused =
    std::to_array<std::string_view>({"encode", "format_map", "isidentifier", "isprintable", "maketrans", "translate"});
constexpr auto markup_refused = std::to_array<std::string_view>({"escape", "striptags", "unescape"});
constexpr auto number_refused = std::to_array<std::string_view>(
    {"as_integer_ratio", "bit_count", "bit_length", "conjugate", "denominator", "from_bytes", "fromhex", "hex", "imag",
     "is_integer", "numerator", "real", "to_bytes"});

bool is_one_of(std::string_view name, const auto& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

bool is_refused_method(std::string_view name) {
  return is_one_of(name, string_refused) || is_one_of(name, markup_refused) || is_one_of(name, number_refused) ||
         name == "fromkeys";
}

Value find_method(const Value& value, std::string_view name, Budget& budget) {
  const bool is_refused = (value.get<std::string>() && is_one_of(name, string_refused)) ||
                          (value.is_markup() && is_one_of(name, markup_refused)) ||
                          (value.number() && is_one_of(name, number_refused)) ||
                          (value.get<Dict>() && name == "fromkeys");
  if (is_refused) refuse(fmt::format("\"{}\" of {} is not supported", name, value.type_name()));
  if (value.get<std::string>()) return find_string_method(value, name, budget);
  if (value.get<Dict>()) return bound_method(dict_methods, value, name, budget);
  if (value.get<List>() && !value.is_view()) {
    if (value.sequence() == Sequence::list && name == "copy")
      return bound_method(copied_list_methods, value, name, budget);
    return bound_method(list_methods, value, name, budget);
  }
  return Undefined{std::string(name)};
}

}  // namespace tril::chat
