#include "chat/template_globals.h"

#include <fmt/format.h>

#include <array>
#include <cstdlib>

#include "base/error.h"
#include "base/printable.h"
#include "chat/template_functions.h"
#include "chat/template_lists.h"
#include "chat/template_written.h"

namespace tril::chat {
namespace {

Value time_text(std::time_t now, const Arguments& a) {
  const Value* format = argument(a, 0, "format");
  const auto* text = format ? format->get<std::string>() : nullptr;
  if (!text || text->size() > 1000) refuse("strftime_now() takes a format");
  std::tm local{};
  ::localtime_r(&now, &local);
  std::string out(text->size() * 32 + 1, '\0');
  out.resize(std::strftime(out.data(), out.size(), text->c_str(), &local));
  return Value(std::move(out));
}

Value range(const Arguments& a, Budget& budget) {
  std::array<std::int64_t, 3> n{0, 0, 1};
  if (a.positional.empty() || a.positional.size() > 3 || !a.named.empty())
    refuse("range() takes one to three numbers, without names");
  for (std::size_t i = 0; i < a.positional.size(); ++i) {
    const auto number = a.positional[i].integer();
    if (!number || *number > 1'000'000'000 || *number < -1'000'000'000)
      refuse("range() takes integers below a billion");
    n[i] = *number;
  }
  if (a.positional.size() == 1) std::swap(n[0], n[1]);
  if (n[2] == 0) refuse("range(): the step is 0");
  constexpr std::int64_t most = 100'000;  // as in Jinja's sandbox
  const std::int64_t way = n[2] > 0 ? n[1] - n[0] : n[0] - n[1], step = std::abs(n[2]);
  const std::int64_t count = way <= 0 ? 0 : (way + step - 1) / step;
  if (count > most) refuse(fmt::format("range() has more than {} numbers", most));
  budget.pay(static_cast<std::size_t>(8 * count));
  List list;
  for (std::int64_t i = 0; i < count; ++i) list.emplace_back(n[0] + i * n[2]);
  return Value::sequence(std::move(list), Sequence::range);
}

// Initial members of namespace() and dict(): a mapping or a list of pairs, then named arguments.
Dict first_members(const Arguments& a, std::string_view whose, Budget& budget) {
  Dict dict;
  if (a.positional.size() > 1) refuse(fmt::format("{} takes one mapping, and members by name", whose));
  if (!a.positional.empty()) {
    const Value& given = a.positional[0];
    const auto* mapping = given.get<Dict>();
    for (const Value& pair : mapping ? pairs_of(*mapping) : elements(given, budget)) {
      const List two = elements(pair, budget);
      if (two.size() != 2) refuse(fmt::format("{} takes a mapping, or pairs of a key and a value", whose));
      budget.pay(cost_of_find(dict, two[0]));
      put(dict, two[0], two[1]);
    }
  }
  for (const auto& [name, value] : a.named) {
    const Value key(name);
    budget.pay(cost_of_find(dict, key));
    put(dict, key, value);
  }
  return dict;
}

Value new_namespace(const Arguments& a, Budget& budget) {
  auto made = std::make_shared<Namespace>();
  for (const auto& [name, value] : first_members(a, "namespace()", budget)) {
    budget.pay(cost_of_find(made->members, name));
    set_member(*made, name, value);
  }
  return Value(std::move(made));
}

Value raise_exception(const Arguments& a) {
  check_arguments(a, "message", "raise_exception()");
  const Value* message = argument(a, 0, "message");
  fail_usage("", printable(message ? to_text(*message) : "raise_exception()", 1000));
}

// next() returns its values in turn.
Value new_cycler(const Arguments& a) {
  if (a.positional.empty() || !a.named.empty()) refuse("cycler() takes values");
  const auto at = std::make_shared<std::size_t>(0);
  const auto member = [items = a.positional, at](std::string_view name) -> Value {
    if (name == "current") return items[*at];
    if (name == "items") return Value::tuple(items);
    if (name == "pos") return static_cast<std::int64_t>(*at);
    if (name == "reset")
      return Callable{"reset", [at](const Arguments&) {
                        *at = 0;
                        return Value();
                      }};
    if (name == "next")
      return Callable{"next", [items, at](const Arguments&) {
                        const Value& now = items[*at];
                        *at = (*at + 1) % items.size();
                        return now;
                      }};
    return Undefined{std::string(name)};
  };
  return Value(Callable{"cycler", {}, member}).holding(Value(a.positional));
}

// A callable that returns an empty text the first time.
Value new_joiner(const Arguments& a) {
  check_arguments(a, "sep", "joiner()");
  const Value* given = argument(a, 0, "sep");
  const Value by = given ? *given : Value(", ");
  const auto used = std::make_shared<bool>(false);
  return Value(Callable{"joiner", [by, used](const Arguments&) { return std::exchange(*used, true) ? by : Value(""); }})
      .holding(by);
}

}  // namespace

void set_member(Namespace& ns, const Value& name, const Value& value) {
  const auto* text = name.get<std::string>();
  const std::string shown = printable(to_text(name));
  if (text && text->starts_with('_')) refuse(fmt::format("\"{}\": no member of a namespace begins with _", shown));
  if (value.is_bound()) refuse(fmt::format("\"{}\" cannot hold a namespace or a function", shown));
  put(ns.members, name, value);
}

std::vector<Callable> functions(std::time_t now, Budget& budget) {
  return {{"raise_exception", raise_exception},
          {"strftime_now", [now](const Arguments& a) { return time_text(now, a); }},
          {"range", [&budget](const Arguments& a) { return range(a, budget); }},
          {"namespace", [&budget](const Arguments& a) { return new_namespace(a, budget); }},
          {"dict", [&budget](const Arguments& a) -> Value { return first_members(a, "dict()", budget); }},
          {"cycler", new_cycler},
          {"joiner", new_joiner}};
}

}  // namespace tril::chat
