#include "text/template_globals.h"

#include <fmt/format.h>

#include <array>
#include <cstdlib>

#include "base/error.h"
#include "base/printable.h"

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
      refuse("range() takes whole numbers below a billion");
    n[i] = *number;
  }
  if (a.positional.size() == 1) std::swap(n[0], n[1]);
  if (n[2] == 0) refuse("range(): the step is 0");
  constexpr std::int64_t most = 100'000;  // Jinja's sandbox has the same bound
  const std::int64_t way = n[2] > 0 ? n[1] - n[0] : n[0] - n[1], step = std::abs(n[2]);
  const std::int64_t count = way <= 0 ? 0 : (way + step - 1) / step;
  if (count > most) refuse(fmt::format("range() has more than {} numbers", most));
  budget.pay(static_cast<std::size_t>(2 * count));
  List list;
  for (std::int64_t i = 0; i < count; ++i) list.emplace_back(n[0] + i * n[2]);
  return Value::view(std::move(list));
}

// The mapping that namespace() and dict() may begin with.
Dict first_members(const Arguments& a, std::string_view whose) {
  if (a.positional.empty()) return {};
  const auto* dict = a.positional[0].get<Dict>();
  if (!dict || a.positional.size() > 1) refuse(fmt::format("{} takes one mapping, and members by name", whose));
  return *dict;
}

Value new_namespace(const Arguments& a) {
  auto made = std::make_shared<Namespace>();
  for (const auto& [name, value] : first_members(a, "namespace()")) put(made->members, name, value);
  for (const auto& [name, value] : a.named) put(made->members, name, value);
  return Value(std::move(made));
}

Value new_dict(const Arguments& a) {
  Dict dict = first_members(a, "dict()");
  for (const auto& [name, value] : a.named) put(dict, name, value);
  return Value(std::move(dict));
}

Value raise_exception(const Arguments& a) {
  const Value* message = argument(a, 0, "message");
  fail_usage("", printable(message ? to_text(*message) : "raise_exception()", 1000));
}

}  // namespace

void put(Dict& dict, const std::string& name, const Value& value) {
  if (value.is_bound()) refuse(fmt::format("\"{}\" cannot hold a namespace or a function", printable(name)));
  for (auto& [key, member] : dict)
    if (key == name) {
      member = value;
      return;
    }
  dict.emplace_back(name, value);
}

std::vector<Callable> functions(std::time_t now, Budget& budget) {
  return {{"raise_exception", raise_exception},
          {"strftime_now", [now](const Arguments& a) { return time_text(now, a); }},
          {"range", [&budget](const Arguments& a) { return range(a, budget); }},
          {"namespace", new_namespace},
          {"dict", new_dict}};
}

}  // namespace tril::chat
