// Access to values: members, slices, iteration.
#include "chat/template_functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/element.h"
#include "chat/template_operators.h"
#include "chat/template_text.h"
#include "chat/template_written.h"

namespace tril::chat {
namespace {

Value missing(const Value& key) {
  const auto* name = key.get<std::string>();
  return Undefined{name ? *name : key.integer() ? to_text(key) : std::string(key.type_name())};
}

bool can_be_key(const Value& value) {
  const auto* list = value.get<List>();
  if (value.get<Dict>() || value.is_view() || (list && value.sequence() == Sequence::list)) return false;
  return !list || std::all_of(list->begin(), list->end(), can_be_key);
}

// Undefined if there is no such item.
Value item(const Value& value, const Value& key, Budget& budget) {
  const auto of_dict = [&](const Dict& dict) {
    budget.pay(cost_of_find(dict, key));
    const Value* found = can_be_key(key) ? find(dict, key) : nullptr;
    return found ? *found : missing(key);
  };
  if (const auto* dict = value.get<Dict>()) return of_dict(*dict);
  if (const auto* ns = value.get<std::shared_ptr<Namespace>>()) return of_dict((*ns)->members);
  const auto* f = value.get<Callable>();
  if (f && f->member && key.get<std::string>()) return f->member(*key.get<std::string>());
  const auto* list = value.get<List>();
  if (const auto* name = key.get<std::string>(); name && value.sequence() == Sequence::group)
    return *name == "grouper" ? list->front() : *name == "list" ? list->back() : missing(key);
  const auto index = key.integer();
  const auto* text = value.get<std::string>();
  if (!index || value.is_view() || (!list && !text)) return missing(key);
  if (text) budget.pay(2 * text->size());
  const std::int64_t size = list ? std::ssize(*list) : length_of(*text);
  const std::int64_t at = *index < 0 ? *index + size : *index;
  if (at < 0 || at >= size) return missing(key);
  if (list) return element(*list, at);
  return Value::text_like(value, std::string(element(characters(*text), at)));
}

}  // namespace

Value attribute(const Value& value, std::string_view name, Budget& budget) {
  check_defined(value, fmt::format("has no \"{}\"", name));
  constexpr std::array<std::string_view, 5> changing{"clear", "pop", "popitem", "setdefault", "update"};
  if (value.get<Dict>() && std::find(changing.begin(), changing.end(), name) != changing.end())
    return Undefined{std::string(name)};  // as in Jinja's sandbox, even if the mapping has that key
  Value method = find_method(value, name, budget);
  return method.is_undefined() ? item(value, Value(name), budget) : method;
}

Value subscript(const Value& value, const Value& key, Budget& budget) {
  check_defined(value, "has no members");
  Value found = item(value, key, budget);
  const auto* name = key.get<std::string>();
  return found.is_undefined() && name ? attribute(value, *name, budget) : found;
}

Value slice(const Value& value, const List& bounds, Budget& budget) {
  check_defined(value, "cannot be sliced");
  if (!value.get<std::string>() && (!value.get<List>() || value.is_view()))
    refuse(fmt::format("{} cannot be sliced", value.type_name()));
  const auto* text = value.get<std::string>();
  if (text) budget.pay(4 * text->size());
  const std::vector<std::string_view> letters = text ? characters(*text) : std::vector<std::string_view>();
  const std::int64_t n = text ? std::ssize(letters) : std::ssize(*value.get<List>());
  const auto bound = [&](std::size_t i) -> std::optional<std::int64_t> {
    const Value& v = bounds[i];
    if (v.is_none()) return std::nullopt;
    if (!v.integer()) refuse(fmt::format("a slice's bound is {}, expected an integer", v.type_name()));
    return std::clamp<std::int64_t>(*v.integer(), -(n + 1), n + 1);
  };
  const std::int64_t step = bound(2).value_or(1);
  if (step == 0) refuse("a slice's step is 0");
  const auto place = [&](std::int64_t i) { return i < 0 ? i + n : i; };
  const std::int64_t low = step > 0 ? 0 : -1, high = step > 0 ? n : n - 1;
  const auto from = bound(0), to = bound(1);
  std::int64_t i = std::clamp(from ? place(*from) : step > 0 ? low : high, low, high);
  const std::int64_t end = std::clamp(to ? place(*to) : step > 0 ? high : low, low, high);
  List cut;
  std::string cut_text;
  for (; step > 0 ? i < end : i > end; i += step)
    if (text)
      cut_text += element(letters, i);
    else
      cut.push_back(element(*value.get<List>(), i));
  if (text) return Value::text_like(value, std::move(cut_text));
  budget.pay(4 * cut.size());
  if (value.is_tuple()) return Value::tuple(std::move(cut));
  return Value::sequence(std::move(cut), value.sequence());
}

Generator::Next over(const Value& value, Budget& budget) {
  if (const auto* generator = value.get<std::shared_ptr<Generator>>())
    return [held = *generator, &budget] {
      budget.pay(2);
      return held->next();
    };
  return [all = elements(value, budget), at = std::size_t{0}]() mutable -> std::optional<Value> {
    if (at == all.size()) return std::nullopt;
    return all[at++];
  };
}

List elements(const Value& value, Budget& budget) {
  List all;
  if (const auto* list = value.get<List>()) {
    all = *list;
  } else if (const auto* dict = value.get<Dict>()) {
    for (const auto& [key, member] : *dict) all.push_back(key);
  } else if (const auto* s = value.get<std::string>()) {
    budget.pay(s->size() * 8);
    for (std::string_view one : characters(*s)) all.emplace_back(one);
  } else if (const auto* generator = value.get<std::shared_ptr<Generator>>()) {
    while (std::optional<Value> one = (*generator)->next()) {
      all.push_back(std::move(*one));
    }
  } else if (!value.is_undefined()) {
    refuse(fmt::format("{} is not iterable", value.type_name()));
  }
  budget.pay(4 * all.size());
  return all;
}

bool contains(const Value& b, const Value& a, Budget& budget) {
  if (const auto* s = b.get<std::string>()) {
    const std::string& what = text_of(a, "in");
    return find_text(*s, what, 0, budget) != s->npos;
  }
  if (const auto* dict = b.get<Dict>()) {
    check_key(a);
    budget.pay(cost_of_find(*dict, a));
    return find(*dict, a) != nullptr;
  }
  if (b.sequence() == Sequence::keys) check_key(a);
  const Generator::Next next = over(b, budget);
  while (const std::optional<Value> one = next()) {
    budget.pay(cost_of_equal(*one, a));
    if (equal(*one, a)) return true;
  }
  return false;
}

}  // namespace tril::chat
