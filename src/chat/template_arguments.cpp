#include "chat/template_arguments.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/printable.h"
#include "chat/template_written.h"

namespace tril::chat {

void refuse(const std::string& what, const std::string& hint) {
  fail("", what, hint);
}

void Budget::pay(std::size_t work) {
  if (work >= left_)
    refuse("it does too much work", "nested loops, or strings that grow with each iteration, may never end");
  left_ -= work;
}

const Value* argument(const Arguments& arguments, std::size_t index, std::string_view name) {
  if (index < arguments.positional.size()) return &arguments.positional[index];
  for (const auto& [key, value] : arguments.named)
    if (key == name) return &value;
  return nullptr;
}

const Value& needed(const Arguments& a, std::size_t index, std::string_view name, std::string_view whose) {
  const Value* given = argument(a, index, name);
  if (!given) refuse(fmt::format("{} lacks the argument \"{}\"", whose, name));
  return *given;
}

List rest_of(const List& list, std::size_t n) {
  const auto rest = std::span(list).subspan(std::min(n, list.size()));
  return List(rest.begin(), rest.end());
}

void check_arguments(const Arguments& a, std::string_view names, std::string_view whose) {
  std::vector<std::string_view> known;
  std::size_t by_place = 0;  // positional ones
  for (std::size_t at = 0; at < names.size();) {
    const std::size_t end = std::min(names.find(' ', at), names.size());
    const std::string_view name = names.substr(at, end - at);
    if (name == "/")
      by_place = known.size();
    else
      known.push_back(name);
    at = end + 1;
  }
  if (a.positional.size() > known.size())
    refuse(fmt::format("{} takes {} arguments at most, not {}", whose, known.size(), a.positional.size()));
  for (const auto& [name, value] : a.named) {
    const auto place = std::find(known.begin(), known.end(), name) - known.begin();
    if (place == std::ssize(known) || std::cmp_less(place, by_place))
      refuse(fmt::format("{} has no argument \"{}\"", whose, printable(name)));
    if (place < std::ssize(a.positional)) refuse(fmt::format("{}: the argument \"{}\" is given twice", whose, name));
  }
}

const std::string& text_of(const Value& value, std::string_view whose) {
  const auto* s = value.get<std::string>();
  if (!s) refuse(fmt::format("{} takes a string, not {}", whose, value.type_name()));
  return *s;
}

std::string text_argument(const Arguments& a, std::size_t index, std::string_view name, std::string_view otherwise) {
  const Value* value = argument(a, index, name);
  return value && !value->is_none() ? text_of(*value, name) : std::string(otherwise);
}

std::int64_t whole_argument(const Arguments& a, std::size_t index, std::string_view name, std::int64_t otherwise) {
  const Value* value = argument(a, index, name);
  if (!value || value->is_none()) return otherwise;
  const auto n = value->integer();
  if (!n) refuse(fmt::format("argument \"{}\" is {}, expected an integer", name, value->type_name()));
  return *n;
}

std::int64_t number_argument(const Arguments& a, std::size_t index, std::string_view name, std::int64_t otherwise) {
  const Value* value = argument(a, index, name);
  if (value && value->is_none()) refuse(fmt::format("argument \"{}\" is none, expected an integer", name));
  return whole_argument(a, index, name, otherwise);
}

bool flag_argument(const Arguments& a, std::size_t index, std::string_view name, bool otherwise) {
  const Value* value = argument(a, index, name);
  return value ? value->truth() : otherwise;
}

std::string printed(const Value& value, Budget& budget) {
  budget.pay_whole(value);
  std::string text = to_text(value);
  if (text.size() > longest_text) refuse("a string becomes too long");
  return text;
}

}  // namespace tril::chat
