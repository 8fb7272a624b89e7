#include "chat/template_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <type_traits>

#include "chat/template_arguments.h"

namespace tril::chat {
namespace {

constexpr int deepest_value = 64;
constexpr std::uint32_t largest_weight = 1 << 30;

void check_depth(int depth) {
  if (depth > deepest_value) refuse(fmt::format("a value is nested more than {} deep", deepest_value));
}

std::uint32_t weight_of(const std::string& text) {
  return static_cast<std::uint32_t>(std::min<std::size_t>(1 + text.size() / 16, largest_weight));
}

Value from_json(const nlohmann::ordered_json& json, int depth) {
  check_depth(depth);
  if (json.is_string()) return json.get<std::string>();
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_unsigned() && json.get<std::uint64_t>() > std::uint64_t{1} << 63 >> 1)
    refuse(fmt::format("the number {} is too large", json.get<std::uint64_t>()));
  if (json.is_number_integer()) return json.get<std::int64_t>();
  if (json.is_number()) return json.get<double>();
  if (json.is_array()) {
    List list;
    for (const auto& item : json) list.push_back(from_json(item, depth + 1));
    return Value(std::move(list));
  }
  if (json.is_object()) {
    Dict dict;
    for (const auto& [key, member] : json.items()) dict.emplace_back(key, from_json(member, depth + 1));
    return Value(std::move(dict));
  }
  return None{};
}

}  // namespace

Generator::Generator(Next next) : next_(std::move(next)) {}

std::optional<Value> Generator::next() {
  return next_();
}

Value::Value(std::string v) : weight_(weight_of(v)) {
  data_ = std::make_shared<const std::string>(std::move(v));
}

Value::Value(List v) {
  for (const Value& item : v) take(item);
  check_depth(++depth_);
  data_ = std::make_shared<const List>(std::move(v));
}

Value Value::sequence(List v, Sequence kind) {
  Value value(std::move(v));
  value.sequence_ = kind;
  return value;
}

Value Value::markup(std::string v) {
  Value value(std::move(v));
  value.markup_ = true;
  return value;
}

Value Value::text_like(const Value& like, std::string v) {
  Value value(std::move(v));
  value.markup_ = like.markup_;
  return value;
}

Value::Value(Dict v) {
  for (const auto& [key, member] : v) take(key), take(member);
  check_depth(++depth_);
  data_ = std::make_shared<const Dict>(std::move(v));
}

Value::Value(std::shared_ptr<Namespace> v) : data_(std::move(v)), bound_(true) {}
Value::Value(Callable v) : data_(std::make_shared<const Callable>(std::move(v))), bound_(true) {}

Value Value::generator(Generator::Next next) {
  Value value;
  value.data_ = std::make_shared<Generator>(std::move(next));
  return value;
}

Value&& Value::holding(const Value& held) && {
  check_depth(held.depth_ + 1);
  depth_ = std::max<std::uint8_t>(depth_, static_cast<std::uint8_t>(held.depth_ + 1));
  bound_ = bound_ || held.bound_;
  return std::move(*this);
}

void Value::take(const Value& member) {
  depth_ = std::max(depth_, member.depth_);
  bound_ = bound_ || member.bound_;
  add_weight(member.weight_);
}

void Value::add_weight(std::uint32_t more) {
  weight_ = std::min(weight_ + more, largest_weight);
}

std::size_t Value::weight() const {
  const auto* ns = get<std::shared_ptr<Namespace>>();
  if (!ns) return weight_;
  std::size_t all = weight_;
  for (const auto& [key, member] : (*ns)->members) all += key.weight_ + member.weight_;
  return all;
}

template <class T>
const T* Value::get() const {
  if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, List> || std::is_same_v<T, Dict> ||
                std::is_same_v<T, Callable>) {
    const auto* held = std::get_if<std::shared_ptr<const T>>(&data_);
    return held ? held->get() : nullptr;
  } else {
    return std::get_if<T>(&data_);
  }
}
template const Undefined* Value::get() const;
template const None* Value::get() const;
template const bool* Value::get() const;
template const std::int64_t* Value::get() const;
template const double* Value::get() const;
template const std::string* Value::get() const;
template const List* Value::get() const;
template const Dict* Value::get() const;
template const std::shared_ptr<Namespace>* Value::get() const;
template const std::shared_ptr<Generator>* Value::get() const;
template const Callable* Value::get() const;

std::optional<std::int64_t> Value::integer() const {
  if (const auto* b = get<bool>()) return *b ? 1 : 0;
  if (const auto* i = get<std::int64_t>()) return *i;
  return std::nullopt;
}

std::optional<double> Value::number() const {
  if (const auto i = integer()) return static_cast<double>(*i);
  if (const auto* d = get<double>()) return *d;
  return std::nullopt;
}

bool Value::truth() const {
  if (const auto n = number()) return *n != 0;
  if (const auto* s = get<std::string>()) return !s->empty();
  if (const auto* list = get<List>()) return !list->empty();
  if (const auto* dict = get<Dict>()) return !dict->empty();
  return !is_undefined() && !is_none();
}

std::string_view Value::type_name() const {
  constexpr std::array<std::string_view, 11> names = {
      "an undefined value", "none",        "a boolean",  "an integer", "a float", "a string", "a list",
      "a mapping",          "a namespace", "a function", "a generator"};
  return names[data_.index()];
}

std::size_t cost_of_find(const Dict& dict, const Value& key) {
  return 1 + dict.size() * (1 + (key.get<List>() ? 8 * key.weight() : key.weight() / 4));
}

const Value* find(const Dict& dict, const Value& key) {
  for (const auto& [name, member] : dict)
    if (equal(name, key)) return &member;
  return nullptr;
}

const Value* find(const Dict& dict, std::string_view key) {
  for (const auto& [name, member] : dict)
    if (const auto* text = name.get<std::string>(); text && *text == key) return &member;
  return nullptr;
}

void check_key(const Value& value) {
  const auto* list = value.get<List>();
  if (value.get<Dict>() || (list && value.sequence() == Sequence::list) || value.is_view())
    refuse(fmt::format("{} cannot be a mapping's key", value.type_name()));
  if (list)
    for (const Value& one : *list) check_key(one);
}

void put(Dict& dict, const Value& key, Value value) {
  check_key(key);
  for (auto& [name, member] : dict)
    if (equal(name, key)) {
      member = std::move(value);
      return;
    }
  dict.emplace_back(key, std::move(value));
}

Value from_json(const nlohmann::ordered_json& json) {
  return from_json(json, 0);
}

}  // namespace tril::chat
