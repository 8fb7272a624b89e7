#include "text/template_functions.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "base/printable.h"
#include "text/characters.h"
#include "text/piece_decoder.h"

namespace tril::chat {
namespace {

constexpr std::size_t longest_text = 16 << 20;

// ---- Arguments

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
  if (!n) refuse(fmt::format("argument \"{}\" is {}, expected a whole number", name, value->type_name()));
  return *n;
}

bool flag_argument(const Arguments& a, std::size_t index, std::string_view name, bool otherwise) {
  const Value* value = argument(a, index, name);
  return value ? value->truth() : otherwise;
}

// ---- Text

// Python's white space.
bool is_space(char32_t c) {
  return (c >= 0x1c && c <= 0x1f) || (CharacterKinds::table()(c) & kind_space) != 0;
}

std::vector<std::string_view> characters(std::string_view s) {
  std::vector<std::string_view> all;
  for (std::size_t at = 0; at < s.size();) {
    const std::size_t length = character_at(s, at).length;
    all.push_back(s.substr(at, length));
    at += length;
  }
  return all;
}

std::int64_t length_of(std::string_view s) {
  std::int64_t n = 0;
  for (std::size_t at = 0; at < s.size(); at += character_at(s, at).length) ++n;
  return n;
}

enum Ends : std::uint8_t { left = 1, right = 2, both = 3 };

// Without the characters of `which` (white space where there is none) at its ends.
std::string stripped(std::string_view s, const Value* which, Ends ends) {
  const bool any_space = !which || which->is_none();
  const std::string set = any_space ? "" : text_of(*which, "strip");
  const auto goes = [&](std::string_view one) {
    return any_space ? is_space(character_at(one, 0).code) : set.find(one) != set.npos;
  };
  while ((ends & left) && !s.empty()) {
    const std::string_view first = s.substr(0, character_at(s, 0).length);
    if (!goes(first)) break;
    s.remove_prefix(first.size());
  }
  while ((ends & right) && !s.empty()) {
    const std::size_t last = last_character(s, s.size());
    if (!goes(s.substr(last))) break;
    s = s.substr(0, last);
  }
  return std::string(s);
}

// Letters of ASCII alone change: templates upper-case roles and keywords.
std::string with_case(std::string_view s, bool upper) {
  std::string out(s);
  for (char& c : out)
    if (upper ? c >= 'a' && c <= 'z' : c >= 'A' && c <= 'Z') c = static_cast<char>(c ^ 0x20);
  return out;
}

std::string capitalized(std::string_view s) {
  return s.empty() ? "" : with_case(s.substr(0, 1), true) + with_case(s.substr(1), false);
}

// Each word begins with a capital.
std::string titled(std::string_view s) {
  std::string out;
  bool begins = true;
  for (char c : s) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    out += with_case({&c, 1}, begins);
    begins = !letter;
  }
  return out;
}

std::string replaced(std::string_view s, std::string_view from, std::string_view to, std::int64_t most,
                     Budget& budget) {
  if (from.empty()) refuse("replace: the text to be replaced is empty");
  std::string out;
  std::size_t at = 0;
  for (std::size_t found = s.find(from); found != s.npos && most != 0; found = s.find(from, at), --most) {
    out.append(s.substr(at, found - at)).append(to);
    budget.pay(to.size());
    at = found + from.size();
    if (out.size() > longest_text) refuse("replace: the text becomes too long");
  }
  return out.append(s.substr(at));
}

List split(std::string_view s, const Value* by, std::int64_t most, bool from_right, Budget& budget) {
  List parts;
  const auto add = [&](std::string_view part) {
    budget.pay(part.size() + 8);
    parts.emplace_back(part);
  };
  if (!by || by->is_none()) {
    if (from_right && most >= 0) refuse("rsplit by white space with a limit is not supported");
    s = std::string_view(s);
    for (std::size_t at = 0; at < s.size();) {
      const Character c = character_at(s, at);
      if (is_space(c.code)) {
        at += c.length;
        continue;
      }
      if (most == 0) {
        parts.emplace_back(stripped(s.substr(at), nullptr, right));
        break;
      }
      std::size_t end = at;
      while (end < s.size() && !is_space(character_at(s, end).code)) end += character_at(s, end).length;
      add(s.substr(at, end - at));
      at = end;
      --most;
    }
    return parts;
  }
  const std::string& sign = text_of(*by, "split");
  if (sign.empty()) refuse("split: the separator is empty");
  if (from_right) {
    for (std::size_t found = s.rfind(sign); found != s.npos && most != 0; found = s.rfind(sign), --most) {
      add(s.substr(found + sign.size()));
      s = s.substr(0, found);
    }
    add(s);
    std::reverse(parts.begin(), parts.end());
    return parts;
  }
  for (std::size_t found = s.find(sign); found != s.npos && most != 0; found = s.find(sign), --most) {
    add(s.substr(0, found));
    s.remove_prefix(found + sign.size());
  }
  add(s);
  return parts;
}

List lines_of(std::string_view s, Budget& budget) {
  List lines;
  while (!s.empty()) {
    const std::size_t end = std::min(s.find_first_of("\r\n"), s.size());
    budget.pay(end + 8);
    lines.emplace_back(s.substr(0, end));
    s.remove_prefix(end);
    s.remove_prefix(s.starts_with("\r\n") ? 2 : s.empty() ? 0 : 1);
  }
  return lines;
}

std::string joined(const List& list, std::string_view by, Budget& budget) {
  std::string out;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string one = to_text(list[i]);
    budget.pay(one.size() + by.size());
    out.append(i > 0 ? by : "").append(one);
    if (out.size() > longest_text) refuse("join: the text becomes too long");
  }
  return out;
}

// startswith and endswith take one text or a list of them.
bool has_end(const std::string& s, const Value& what, bool at_start) {
  if (const auto* list = what.get<List>())
    return std::any_of(list->begin(), list->end(), [&](const Value& one) { return has_end(s, one, at_start); });
  const std::string& end = text_of(what, at_start ? "startswith" : "endswith");
  return at_start ? s.starts_with(end) : s.ends_with(end);
}

std::string indented(std::string_view s, const Arguments& a) {
  const Value* width = argument(a, 0, "width");
  std::string by =
      width && width->get<std::string>()
          ? *width->get<std::string>()
          : std::string(static_cast<std::size_t>(std::clamp<std::int64_t>(whole_argument(a, 0, "width", 4), 0, 100)),
                        ' ');
  const bool first = flag_argument(a, 1, "first", false), blank = flag_argument(a, 2, "blank", false);
  if (by.size() > 100) refuse("indent: more than 100 characters are not supported");
  std::string out;
  for (std::size_t line = 0; !s.empty() || line == 0; ++line) {
    const std::size_t end = std::min(s.find('\n'), s.size());
    if (line == 0 ? first : blank || end > 0) out += by;
    out += s.substr(0, std::min(end + 1, s.size()));
    s.remove_prefix(std::min(end + 1, s.size()));
  }
  return out;
}

// ---- Lists

List sorted(List list, const Arguments& a, Budget& budget);

Value attribute_of(const Value& value, std::string_view path) {
  Value now = value;
  while (!path.empty()) {
    const std::size_t dot = std::min(path.find('.'), path.size());
    now = item(now, Value(path.substr(0, dot)));
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  return now;
}

// Jinja sorts and compares texts without regard to case, unless it is told to.
bool before(const Value& a, const Value& b, bool case_counts) {
  const auto *x = a.get<std::string>(), *y = b.get<std::string>();
  return x && y && !case_counts ? with_case(*x, false) < with_case(*y, false) : less(a, b);
}

List sorted(List list, const Arguments& a, Budget& budget) {
  const bool reverse = flag_argument(a, 0, "reverse", false), cases = flag_argument(a, 1, "case_sensitive", false);
  const std::string path = text_argument(a, 2, "attribute", "");
  budget.pay(list.size() * 32);
  std::stable_sort(list.begin(), list.end(), [&](const Value& x, const Value& y) {
    return reverse ? before(attribute_of(y, path), attribute_of(x, path), cases)
                   : before(attribute_of(x, path), attribute_of(y, path), cases);
  });
  return list;
}

List unique(const List& list, Budget& budget) {
  List kept;
  for (const Value& one : list) {
    budget.pay(kept.size() + 1);
    if (std::none_of(kept.begin(), kept.end(),
                     [&](const Value& k) { return !before(k, one, false) && !before(one, k, false); }))
      kept.push_back(one);
  }
  return kept;
}

// Arguments from the n-th on.
Arguments behind(const Arguments& a, std::size_t n) {
  return {
      List(a.positional.begin() + static_cast<std::ptrdiff_t>(std::min(n, a.positional.size())), a.positional.end()),
      {}};
}

// select, reject, selectattr, rejectattr: those for which a test holds, or which are true.
List chosen(const List& list, const Arguments& a, bool by_attribute, bool wanted, Budget& budget) {
  const std::string path = by_attribute ? text_argument(a, 0, "attribute", "") : "";
  const std::size_t first = by_attribute ? 1 : 0;
  const std::string test = text_argument(a, first, "test", "");
  List kept;
  for (const Value& one : list) {
    budget.pay(4);
    const Value value = by_attribute ? attribute_of(one, path) : one;
    const bool holds = test.empty() ? value.truth() : apply_test(test, value, behind(a, first + 1));
    if (holds == wanted) kept.push_back(one);
  }
  return kept;
}

List mapped(const List& list, const Arguments& a, Budget& budget) {
  List out;
  const Value* path = argument(a, ~std::size_t{0}, "attribute");
  const Value* otherwise = argument(a, ~std::size_t{0}, "default");
  for (const Value& one : list) {
    budget.pay(4);
    if (!path) {
      out.push_back(apply_filter(text_argument(a, 0, "filter", ""), one, behind(a, 1), budget));
      continue;
    }
    Value value = attribute_of(one, text_of(*path, "map"));
    out.push_back(value.is_undefined() && otherwise ? *otherwise : std::move(value));
  }
  return out;
}

List pairs_of(const Dict& dict) {
  List pairs;
  for (const auto& [key, member] : dict) pairs.push_back(Value::tuple({Value(key), member}));
  return pairs;
}

List dict_sorted(Dict dict) {
  std::stable_sort(dict.begin(), dict.end(),
                   [](const auto& a, const auto& b) { return with_case(a.first, false) < with_case(b.first, false); });
  return pairs_of(dict);
}

// ---- Numbers

Value rounded(const Value& value, const Arguments& a) {
  const auto n = value.number();
  if (!n) refuse(fmt::format("round takes a number, not {}", value.type_name()));
  const std::int64_t digits = std::clamp<std::int64_t>(whole_argument(a, 0, "precision", 0), 0, 15);
  const std::string method = text_argument(a, 1, "method", "common");
  const double scale = std::pow(10.0, static_cast<double>(digits)), x = *n * scale;
  return (method == "ceil" ? std::ceil(x) : method == "floor" ? std::floor(x) : std::nearbyint(x)) / scale;
}

Value to_int(const Value& value, const Arguments& a) {
  if (const auto n = value.number()) {
    if (!(std::abs(*n) < 9e18)) refuse("int: the number is too large");
    return value.get<double>() ? Value(static_cast<std::int64_t>(*n)) : Value(*value.integer());
  }
  if (const auto* s = value.get<std::string>()) {
    const std::string text = stripped(*s, nullptr, both);
    std::int64_t n = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
    if (error == std::errc{} && end == text.data() + text.size()) return n;
    double d = 0;
    const auto [end_d, error_d] = std::from_chars(text.data(), text.data() + text.size(), d);
    if (error_d == std::errc{} && end_d == text.data() + text.size() && std::abs(d) < 9e18)
      return static_cast<std::int64_t>(d);
  }
  return whole_argument(a, 0, "default", 0);
}

Value to_float(const Value& value, const Arguments& a) {
  if (const auto n = value.number()) return *n;
  if (const auto* s = value.get<std::string>()) {
    const std::string text = stripped(*s, nullptr, both);
    double d = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), d);
    if (error == std::errc{} && end == text.data() + text.size()) return d;
  }
  const Value* otherwise = argument(a, 0, "default");
  return otherwise ? *otherwise : Value(0.0);
}

Value json_of(const Value& value, const Arguments& a) {
  JsonStyle style;
  style.ascii = flag_argument(a, 0, "ensure_ascii", false);
  style.indent = static_cast<int>(std::clamp<std::int64_t>(whole_argument(a, 1, "indent", -1), -1, 32));
  style.sort_keys = flag_argument(a, 3, "sort_keys", false);
  if (const Value* s = argument(a, 2, "separators"); s && !s->is_none()) {
    const auto* two = s->get<List>();
    if (!two || two->size() != 2) refuse("tojson: separators are two strings");
    style.item_separator = text_of((*two)[0], "tojson");
    style.key_separator = text_of((*two)[1], "tojson");
  }
  return to_json(value, style);
}

// The one of `list` that comes before all others, or behind them.
Value extreme(const List& list, bool smallest) {
  if (list.empty()) return Undefined{"min or max of nothing"};
  return *std::min_element(list.begin(), list.end(), [&](const Value& a, const Value& b) {
    return smallest ? before(a, b, false) : before(b, a, false);
  });
}

Value sum_of(const List& list) {
  double sum = 0;
  bool whole = true;
  for (const Value& one : list) {
    if (!one.number()) refuse(fmt::format("sum takes numbers, not {}", one.type_name()));
    sum += *one.number();
    whole = whole && one.integer();
  }
  return whole && std::abs(sum) < 9e15 ? Value(static_cast<std::int64_t>(sum)) : Value(sum);
}

Value length_value(const Value& value) {
  if (const auto* s = value.get<std::string>()) return length_of(*s);
  if (const auto* list = value.get<List>()) return static_cast<std::int64_t>(list->size());
  if (const auto* dict = value.get<Dict>()) return static_cast<std::int64_t>(dict->size());
  if (value.is_undefined()) return std::int64_t{0};
  refuse(fmt::format("{} has no length", value.type_name()));
}

Value reversed(const Value& value, Budget& budget) {
  List list = elements(value, budget);
  std::reverse(list.begin(), list.end());
  return value.get<std::string>() ? Value(joined(list, "", budget)) : Value(std::move(list));
}

// ---- Methods

using Method = Value (*)(const Value& self, const Arguments& a, Budget& budget);

const std::string& self_text(const Value& self) {
  return *self.get<std::string>();
}
const Value& needed(const Arguments& a, std::size_t index, std::string_view method) {
  if (index >= a.positional.size()) refuse(fmt::format("{}() lacks an argument", method));
  return a.positional[index];
}

struct NamedMethod {
  std::string_view name;
  Method call;
};

constexpr auto string_methods = std::to_array<NamedMethod>({
    {"strip", [](const Value& s, const Arguments& a, Budget&) -> Value { return stripped(self_text(s), argument(a, 0, "chars"), both); }},
    {"lstrip", [](const Value& s, const Arguments& a, Budget&) -> Value { return stripped(self_text(s), argument(a, 0, "chars"), left); }},
    {"rstrip", [](const Value& s, const Arguments& a, Budget&) -> Value { return stripped(self_text(s), argument(a, 0, "chars"), right); }},
    {"split", [](const Value& s, const Arguments& a, Budget& b) -> Value {
       return split(self_text(s), argument(a, 0, "sep"), whole_argument(a, 1, "maxsplit", -1), false, b);
     }},
    {"rsplit", [](const Value& s, const Arguments& a, Budget& b) -> Value {
       return split(self_text(s), argument(a, 0, "sep"), whole_argument(a, 1, "maxsplit", -1), true, b);
     }},
    {"splitlines", [](const Value& s, const Arguments&, Budget& b) -> Value { return lines_of(self_text(s), b); }},
    {"startswith", [](const Value& s, const Arguments& a, Budget&) -> Value { return has_end(self_text(s), needed(a, 0, "startswith"), true); }},
    {"endswith", [](const Value& s, const Arguments& a, Budget&) -> Value { return has_end(self_text(s), needed(a, 0, "endswith"), false); }},
    {"upper", [](const Value& s, const Arguments&, Budget&) -> Value { return with_case(self_text(s), true); }},
    {"lower", [](const Value& s, const Arguments&, Budget&) -> Value { return with_case(self_text(s), false); }},
    {"title", [](const Value& s, const Arguments&, Budget&) -> Value { return titled(self_text(s)); }},
    {"capitalize", [](const Value& s, const Arguments&, Budget&) -> Value { return capitalized(self_text(s)); }},
    {"replace", [](const Value& s, const Arguments& a, Budget& b) -> Value {
       return replaced(self_text(s), text_of(needed(a, 0, "replace"), "replace"), text_of(needed(a, 1, "replace"), "replace"),
                       whole_argument(a, 2, "count", -1), b);
     }},
    {"find", [](const Value& s, const Arguments& a, Budget&) -> Value {
       const std::size_t at = self_text(s).find(text_of(needed(a, 0, "find"), "find"));
       return at == std::string::npos ? std::int64_t{-1} : length_of(std::string_view(self_text(s)).substr(0, at));
     }},
    {"count", [](const Value& s, const Arguments& a, Budget&) -> Value {
       const std::string& what = text_of(needed(a, 0, "count"), "count");
       std::int64_t n = 0;
       for (std::size_t at = what.empty() ? std::string::npos : self_text(s).find(what); at != std::string::npos; ++n)
         at = self_text(s).find(what, at + what.size());
       return n;
     }},
    {"join", [](const Value& s, const Arguments& a, Budget& b) -> Value { return joined(elements(needed(a, 0, "join"), b), self_text(s), b); }},
    {"removeprefix", [](const Value& s, const Arguments& a, Budget&) -> Value {
       const std::string& end = text_of(needed(a, 0, "removeprefix"), "removeprefix");
       return self_text(s).starts_with(end) ? self_text(s).substr(end.size()) : self_text(s);
     }},
    {"removesuffix", [](const Value& s, const Arguments& a, Budget&) -> Value {
       const std::string& end = text_of(needed(a, 0, "removesuffix"), "removesuffix");
       return self_text(s).ends_with(end) ? self_text(s).substr(0, self_text(s).size() - end.size()) : self_text(s);
     }},
    {"isdigit", [](const Value& s, const Arguments&, Budget&) -> Value {
       return !self_text(s).empty() && std::all_of(self_text(s).begin(), self_text(s).end(), [](char c) { return c >= '0' && c <= '9'; });
     }},
});

constexpr auto dict_methods = std::to_array<NamedMethod>({
    {"items", [](const Value& d, const Arguments&, Budget&) -> Value { return pairs_of(*d.get<Dict>()); }},
    {"keys", [](const Value& d, const Arguments&, Budget& b) -> Value { return elements(d, b); }},
    {"values",
     [](const Value& d, const Arguments&, Budget&) -> Value {
       List values;
       for (const auto& [key, member] : *d.get<Dict>()) values.push_back(member);
       return values;
     }},
    {"get",
     [](const Value& d, const Arguments& a, Budget&) -> Value {
       const auto* key = needed(a, 0, "get").get<std::string>();
       const Value* found = key ? find(*d.get<Dict>(), *key) : nullptr;
       if (found) return *found;
       return a.positional.size() > 1 ? a.positional[1] : Value(None{});
     }},
    {"copy", [](const Value& d, const Arguments&, Budget&) -> Value { return d; }},
});

template <class Methods>
Value bound_method(const Methods& methods, const Value& self, std::string_view name, Budget& budget) {
  for (const NamedMethod& method : methods)
    if (method.name == name)
      return Callable{std::string(name), [self, call = method.call, &budget](const Arguments& a) {
                        if (const auto* s = self.get<std::string>()) budget.pay(s->size());
                        return call(self, a, budget);
                      }};
  return Undefined{std::string(name)};
}

}  // namespace

void refuse(const std::string& what, const std::string& hint) {
  fail("", what, hint);
}

void Budget::pay(std::size_t work) {
  if (work >= left_) refuse("it does too much", "a template that makes a prompt of a few messages needs far less");
  left_ -= work;
}

const Value* argument(const Arguments& arguments, std::size_t index, std::string_view name) {
  if (index < arguments.positional.size()) return &arguments.positional[index];
  for (const auto& [key, value] : arguments.named)
    if (key == name) return &value;
  return nullptr;
}

Value apply_filter(std::string_view name, const Value& value, const Arguments& a, Budget& budget) {
  const auto list = [&] { return elements(value, budget); };
  if (const auto* s = value.get<std::string>()) budget.pay(s->size());
  if (name == "trim") return stripped(to_text(value), argument(a, 0, "chars"), both);
  if (name == "tojson") return json_of(value, a);
  if (name == "length" || name == "count") return length_value(value);
  if (name == "upper") return with_case(to_text(value), true);
  if (name == "lower") return with_case(to_text(value), false);
  if (name == "capitalize") return capitalized(to_text(value));
  if (name == "title") return titled(to_text(value));
  if (name == "string") return to_text(value);
  if (name == "safe") return value;
  if (name == "default" || name == "d") {
    const Value* otherwise = argument(a, 0, "default_value");
    const bool wanted = value.is_undefined() || (flag_argument(a, 1, "boolean", false) && !value.truth());
    return wanted ? (otherwise ? *otherwise : Value("")) : value;
  }
  if (name == "join") {
    const Value* path = argument(a, 1, "attribute");
    return joined(path ? mapped(list(), {{}, {{"attribute", *path}}}, budget) : list(), text_argument(a, 0, "d", ""),
                  budget);
  }
  if (name == "replace")
    return replaced(to_text(value), to_text(needed(a, 0, "replace")), to_text(needed(a, 1, "replace")),
                    whole_argument(a, 2, "count", -1), budget);
  if (name == "indent") return indented(to_text(value), a);
  if (name == "list") return list();
  if (name == "first" || name == "last") {
    const List all = list();
    return all.empty() ? Value(Undefined{std::string(name)}) : name == "first" ? all.front() : all.back();
  }
  if (name == "items")
    return value.is_undefined() ? Value(List{})
           : value.get<Dict>()  ? Value(pairs_of(*value.get<Dict>()))
                                : (refuse("items takes a mapping"), Value());
  if (name == "dictsort" && value.get<Dict>()) return dict_sorted(*value.get<Dict>());
  if (name == "reverse") return reversed(value, budget);
  if (name == "sort") return sorted(list(), a, budget);
  if (name == "unique") return unique(list(), budget);
  if (name == "map") return mapped(list(), a, budget);
  if (name == "select" || name == "reject") return chosen(list(), a, false, name == "select", budget);
  if (name == "selectattr" || name == "rejectattr") return chosen(list(), a, true, name == "selectattr", budget);
  if (name == "min" || name == "max") return extreme(list(), name == "min");
  if (name == "sum") return sum_of(list());
  if (name == "int") return to_int(value, a);
  if (name == "float") return to_float(value, a);
  if (name == "round") return rounded(value, a);
  if (name == "abs" && value.number())
    return value.get<double>() ? Value(std::abs(*value.get<double>()))
                               : Value(*value.integer() < 0 ? -*value.integer() : *value.integer());
  refuse(fmt::format("the filter \"{}\" of {} is not supported", printable(name), value.type_name()));
}

bool apply_test(std::string_view name, const Value& value, const Arguments& a) {
  const auto other = [&]() -> const Value& { return needed(a, 0, name); };
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
  if (name == "equalto" || name == "eq" || name == "==" || name == "sameas") return equal(value, other());
  if (name == "ne" || name == "!=") return !equal(value, other());
  if (name == "lt" || name == "lessthan" || name == "<") return less(value, other());
  if (name == "gt" || name == "greaterthan" || name == ">") return less(other(), value);
  if (name == "le" || name == "<=") return !less(other(), value);
  if (name == "ge" || name == ">=") return !less(value, other());
  if (name == "in") {
    Budget budget;
    return contains(other(), value, budget);
  }
  if (const auto n = value.integer()) {
    if (name == "odd") return *n % 2 != 0;
    if (name == "even") return *n % 2 == 0;
    if (name == "divisibleby") {
      const auto by = other().integer();
      if (!by || *by == 0 || *by == -1) return by && *by == -1;
      return *n % *by == 0;
    }
  }
  if (const auto* s = value.get<std::string>()) {
    if (name == "lower") return with_case(*s, true) != *s && with_case(*s, false) == *s;
    if (name == "upper") return with_case(*s, false) != *s && with_case(*s, true) == *s;
  }
  refuse(fmt::format("the test \"{}\" of {} is not supported", printable(name), value.type_name()));
}

Value find_method(const Value& value, std::string_view name, Budget& budget) {
  if (value.get<std::string>()) return bound_method(string_methods, value, name, budget);
  if (value.get<Dict>()) return bound_method(dict_methods, value, name, budget);
  return Undefined{std::string(name)};
}

Value item(const Value& value, const Value& key) {
  const auto missing = [&] { return Value(Undefined{to_text(key)}); };
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
    budget.pay(s->size() * 8);
    for (std::string_view one : characters(*s)) all.emplace_back(one);
  } else if (!value.is_undefined()) {
    refuse(fmt::format("{} has no elements to go over", value.type_name()));
  }
  budget.pay(all.size());
  return all;
}

bool contains(const Value& b, const Value& a, Budget& budget) {
  if (const auto* s = b.get<std::string>()) {
    budget.pay(s->size());
    return s->find(text_of(a, "in")) != s->npos;
  }
  if (const auto* dict = b.get<Dict>()) {
    const auto* key = a.get<std::string>();
    return key && find(*dict, *key);
  }
  const List all = elements(b, budget);
  return std::any_of(all.begin(), all.end(), [&](const Value& one) { return equal(one, a); });
}

}  // namespace tril::chat
