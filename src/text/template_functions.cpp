#include "text/template_functions.h"

#include <fmt/format.h>

#include <algorithm>

#include "text/characters.h"
#include "text/template_text.h"

namespace tril::chat {

Value item(const Value& value, const Value& key) {
  const auto missing = [&] {
    const auto* name = key.get<std::string>();
    return Value(Undefined{name ? *name : key.integer() ? to_text(key) : std::string(key.type_name())});
  };
  if (const auto* dict = value.get<Dict>()) {
    const auto* name = key.get<std::string>();
    const Value* found = name ? find(*dict, *name) : nullptr;
    return found ? *found : missing();
  }
  if (const auto* ns = value.get<std::shared_ptr<Namespace>>()) {
    const auto* name = key.get<std::string>();
    const Value* found = name ? find((*ns)->members, *name) : nullptr;
    return found ? *found : missing();
  }
  const auto index = key.integer();
  if (!index) return missing();
  const auto* list = value.get<List>();
  const auto* text = value.get<std::string>();
  if (!list && !text) return missing();
  const std::int64_t size = list ? static_cast<std::int64_t>(list->size()) : length_of(*text);
  const std::int64_t at = *index < 0 ? *index + size : *index;
  if (at < 0 || at >= size) return missing();
  return list ? (*list)[static_cast<std::size_t>(at)] : Value(characters(*text)[static_cast<std::size_t>(at)]);
}

List elements(const Value& value, Budget& budget) {
  List all;
  if (const auto* list = value.get<List>()) {
    all = *list;
  } else if (const auto* dict = value.get<Dict>()) {
    for (const auto& [key, member] : *dict) all.emplace_back(key);
  } else if (const auto* s = value.get<std::string>()) {
    budget.pay(s->size() * 6);
    for (std::string_view one : characters(*s)) all.emplace_back(one);
  } else if (!value.is_undefined()) {
    refuse(fmt::format("{} has no elements to go over", value.type_name()));
  }
  budget.pay(all.size());
  return all;
}

bool contains(const Value& b, const Value& a, Budget& budget) {
  if (const auto* s = b.get<std::string>()) {
    const std::string& what = text_of(a, "in");
    budget.pay_text(s->size() + what.size());
    return find_text(*s, what) != s->npos;
  }
  if (const auto* dict = b.get<Dict>()) {
    const auto* key = a.get<std::string>();
    budget.pay(1 + dict->size());
    return key && find(*dict, *key);
  }
  const List all = elements(b, budget);
  budget.pay(all.size() * (1 + a.weight() / 4));
  return std::any_of(all.begin(), all.end(), [&](const Value& one) { return equal(one, a); });
}

}  // namespace tril::chat
