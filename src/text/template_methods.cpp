// The methods that a chat template may call of strings and mappings.
#include <fmt/format.h>
#include <unicode/uchar.h>

#include <algorithm>
#include <array>

#include "text/characters.h"
#include "text/letter_case.h"
#include "text/template_call.h"
#include "text/template_functions.h"
#include "text/template_lists.h"
#include "text/template_text.h"

namespace tril::chat {
namespace {

// What the method is one of.
const std::string& text(const Call& c) {
  return *c.value.get<std::string>();
}
const Dict& dict(const Call& c) {
  return *c.value.get<Dict>();
}

template <Ends ends>
Value strip(const Call& c) {
  return stripped(text(c), argument(c.arguments, 0, "chars"), ends, c.budget);
}

template <bool from_right>
Value split(const Call& c) {
  return split(text(c), argument(c.arguments, 0, "sep"), whole_argument(c.arguments, 1, "maxsplit", -1), from_right,
               c.budget);
}

Value count(const Call& c) {
  const std::string& what = c.given_text(0, "sub");
  if (what.empty()) return length_of(text(c)) + 1;
  std::int64_t n = 0;
  for (std::size_t at = find_text(text(c), what); at != std::string::npos; ++n)
    at = find_text(text(c), what, at + what.size());
  return n;
}

Value find_first(const Call& c) {
  const std::size_t at = find_text(text(c), c.given_text(0, "sub"));
  return at == std::string::npos ? std::int64_t{-1} : length_of(std::string_view(text(c)).substr(0, at));
}

Value join(const Call& c) {
  const List parts = elements(c.given(0, "iterable"), c.budget);
  for (const Value& part : parts) text_of(part, "join");
  return joined(parts, text(c), c.budget);
}

template <bool (*holds)(std::string_view)>
Value is_cased(const Call& c) {
  c.budget.pay(8 * text(c).size());  // each character's case is looked up
  return holds(text(c));
}

// Digits in any script, also small and circled ones.
Value is_digit(const Call& c) {
  c.budget.pay(4 * text(c).size());
  const std::vector<std::string_view> all = characters(text(c));
  return !all.empty() && std::all_of(all.begin(), all.end(), [](std::string_view one) {
    const Character digit = character_at(one, 0);
    if (digit.code == Character::not_utf8) return false;
    const int kind = u_getIntPropertyValue(static_cast<UChar32>(digit.code), UCHAR_NUMERIC_TYPE);
    return kind == U_NT_DECIMAL || kind == U_NT_DIGIT;
  });
}

constexpr auto string_methods = std::to_array<Callee>({
    {"strip", "chars", strip<both>},
    {"lstrip", "chars", strip<left>},
    {"rstrip", "chars", strip<right>},
    {"split", "sep maxsplit", split<false>},
    {"rsplit", "sep maxsplit", split<true>},
    {"splitlines", "keepends",
     [](const Call& c) -> Value {
       return lines_of(text(c), flag_argument(c.arguments, 0, "keepends", false), c.budget);
     }},
    {"startswith", "prefix",
     [](const Call& c) -> Value { return has_end(text(c), c.given(0, "prefix"), true, c.budget); }},
    {"endswith", "suffix",
     [](const Call& c) -> Value { return has_end(text(c), c.given(0, "suffix"), false, c.budget); }},
    {"upper", "", in_case<upper_case>},
    {"lower", "", in_case<lower_case>},
    {"title", "", in_case<title_case>},
    {"capitalize", "", in_case<capital_case>},
    {"islower", "", is_cased<is_lower_case>},
    {"isupper", "", is_cased<is_upper_case>},
    {"isdigit", "", is_digit},
    {"replace", "old new count",
     [](const Call& c) -> Value {
       return replaced(text(c), c.given_text(0, "old"), c.given_text(1, "new"),
                       whole_argument(c.arguments, 2, "count", -1), c.budget);
     }},
    {"find", "sub", find_first},
    {"count", "sub", count},
    {"join", "iterable", join},
    {"removeprefix", "prefix",
     [](const Call& c) -> Value {
       const std::string& end = c.given_text(0, "prefix");
       return text(c).starts_with(end) ? text(c).substr(end.size()) : text(c);
     }},
    {"removesuffix", "suffix",
     [](const Call& c) -> Value {
       const std::string& end = c.given_text(0, "suffix");
       return text(c).ends_with(end) ? text(c).substr(0, text(c).size() - end.size()) : text(c);
     }},
});

Value get(const Call& c) {
  const auto* key = c.given(0, "key").get<std::string>();
  if (const Value* found = key ? find(dict(c), *key) : nullptr) return *found;
  const Value* otherwise = argument(c.arguments, 1, "default");
  return otherwise ? *otherwise : Value(None{});
}

constexpr auto dict_methods = std::to_array<Callee>({
    {"items", "", [](const Call& c) -> Value { return Value::view(pairs_of(dict(c))); }},
    {"keys", "", [](const Call& c) -> Value { return Value::view(elements(c.value, c.budget)); }},
    {"values", "",
     [](const Call& c) -> Value {
       List values;
       for (const auto& [key, member] : dict(c)) values.push_back(member);
       return Value::view(std::move(values));
     }},
    {"get", "key default", get},
    {"copy", "", [](const Call& c) -> Value { return c.value; }},
});

template <class Methods>
Value bound_method(const Methods& methods, const Value& self, std::string_view name, Budget& budget) {
  for (const Callee& method : methods)
    if (method.name == name)
      return Callable{std::string(name), [self, &method, &budget](const Arguments& a) {
                        check_arguments(a, method.parameters, fmt::format("{}()", method.name));
                        if (const auto* s = self.get<std::string>()) budget.pay_text(s->size());
                        if (const auto* d = self.get<Dict>()) budget.pay(4 * d->size());
                        return method.call({self, a, budget, method.name});
                      }};
  return Undefined{std::string(name)};
}

}  // namespace

Value find_method(const Value& value, std::string_view name, Budget& budget) {
  if (value.get<std::string>()) return bound_method(string_methods, value, name, budget);
  if (value.get<Dict>()) return bound_method(dict_methods, value, name, budget);
  return Undefined{std::string(name)};
}

}  // namespace tril::chat
