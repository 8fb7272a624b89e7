#include "text/template_value.h"

#include <fmt/format.h>
#include <unicode/uchar.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <type_traits>

#include "base/error.h"
#include "text/characters.h"
#include "text/template_arguments.h"

namespace tril::chat {
namespace {

constexpr int deepest = 64;
constexpr std::uint32_t largest_weight = 1 << 30;
const char* const where = "";  // ChatTemplate::render() says where

void check_depth(int depth) {
  if (depth > deepest) fail(where, fmt::format("a value is nested more than {} deep", deepest));
}

// Python's repr of a float: the shortest digits that say it.
std::string float_text(double v) {
  if (std::isnan(v)) return "nan";
  if (std::isinf(v)) return v > 0 ? "inf" : "-inf";
  std::array<char, 40> digits{};
  const auto written = [&](std::chars_format format) {
    return std::string(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), v, format).ptr);
  };
  std::string text = written(std::chars_format::scientific);
  const int exponent = std::stoi(text.substr(text.find('e') + 1));
  if (exponent >= -4 && exponent < 16) text = written(std::chars_format::fixed);
  if (text.find_first_of(".e") == text.npos) text += ".0";
  return text;
}

// What str.isprintable() has: no controls, no formats, nothing unassigned, and of spaces the blank alone.
bool is_printable(const Character& c) {
  if (c.code < 0x80) return c.code >= 0x20 && c.code != 0x7f;
  return c.code == Character::not_utf8 || !(U_GET_GC_MASK(static_cast<UChar32>(c.code)) & (U_GC_C_MASK | U_GC_Z_MASK));
}

// Python quotes with ' unless the text has one and no ".
std::string python_quoted(std::string_view text) {
  const char quote = text.find('\'') != text.npos && text.find('"') == text.npos ? '"' : '\'';
  std::string out(1, quote);
  for (std::size_t at = 0; at < text.size();) {
    const Character c = character_at(text, at);
    const std::string_view one = text.substr(at, c.length);
    at += c.length;
    if (one[0] == quote || one == "\\")
      out.append("\\").append(one);
    else if (one == "\n")
      out += "\\n";
    else if (one == "\r")
      out += "\\r";
    else if (one == "\t")
      out += "\\t";
    else if (is_printable(c))
      out += one;
    else if (const auto code = static_cast<std::uint32_t>(c.code); code < 0x100)
      out += fmt::format("\\x{:02x}", code);
    else
      out += code < 0x10000 ? fmt::format("\\u{:04x}", code) : fmt::format("\\U{:08x}", code);
  }
  return out + quote;
}

void check_no_view(const Value& value) {
  if (value.is_view()) fail(where, "a range or a view of a mapping cannot be written", "make it a list: | list");
}

std::string repr(const Value& value, int depth);

std::string dict_repr(const Dict& dict, int depth) {
  std::string text = "{";
  for (const auto& [key, member] : dict)
    text.append(text.size() > 1 ? ", " : "").append(python_quoted(key)).append(": ").append(repr(member, depth + 1));
  return text + "}";
}

std::string repr(const Value& value, int depth) {
  check_depth(depth);
  if (const auto* s = value.get<std::string>()) return python_quoted(*s);
  check_no_view(value);
  if (const auto* list = value.get<List>()) {
    std::string text(1, value.is_tuple() ? '(' : '[');
    for (const Value& item : *list) text.append(text.size() > 1 ? ", " : "").append(repr(item, depth + 1));
    return text + (value.is_tuple() ? list->size() == 1 ? ",)" : ")" : "]");
  }
  if (const auto* dict = value.get<Dict>()) return dict_repr(*dict, depth);
  if (value.is_undefined()) return "Undefined";
  if (value.is_bound()) fail(where, fmt::format("{} within a list or a mapping cannot be written", value.type_name()));
  return to_text(value);
}

std::uint32_t weight_of(const std::string& text) {
  return static_cast<std::uint32_t>(std::min<std::size_t>(1 + text.size() / 16, largest_weight));
}

void append_escape(std::string& out, char32_t c) {
  if (c > 0xffff) {
    out += fmt::format("\\u{:04x}\\u{:04x}", 0xd800 + ((static_cast<std::uint32_t>(c) - 0x10000) >> 10),
                       0xdc00 + ((static_cast<std::uint32_t>(c) - 0x10000) & 0x3ff));
    return;
  }
  out += fmt::format("\\u{:04x}", static_cast<std::uint32_t>(c));
}

std::string json_text(std::string_view text, bool ascii) {
  std::string out = "\"";
  for (std::size_t at = 0; at < text.size();) {
    const Character c = character_at(text, at);
    constexpr std::string_view plain = "\"\\\b\f\n\r\t", letters = "\"\\bfnrt";
    const std::size_t short_form = c.code < 0x80 ? plain.find(static_cast<char>(c.code)) : plain.npos;
    if (short_form != plain.npos)
      out.append(1, '\\').append(1, letters[short_form]);
    else if (c.code < 0x20 || (ascii && c.code > 0x7e))
      append_escape(out, c.code);
    else
      out += text.substr(at, c.length);
    at += c.length;
  }
  return out + "\"";
}

class JsonWriter {
 public:
  explicit JsonWriter(const JsonStyle& style)
      : style_(style),
        separator_(!style.item_separator.empty() ? style.item_separator
                   : style.indent >= 0           ? ","
                                                 : ", ") {}

  void write(const Value& value, int depth) {
    check_depth(depth);
    if (const auto* s = value.get<std::string>()) {
      out += json_text(*s, style_.ascii);
    } else if (value.is_view()) {
      check_no_view(value);
    } else if (const auto* list = value.get<List>()) {
      write_all(*list, '[', ']', depth, [&](const Value& item) { write(item, depth + 1); });
    } else if (const auto* dict = value.get<Dict>()) {
      Dict members = *dict;
      if (style_.sort_keys)
        std::stable_sort(members.begin(), members.end(),
                         [](const auto& a, const auto& b) { return a.first < b.first; });
      write_all(members, '{', '}', depth, [&](const auto& member) {
        out.append(json_text(member.first, style_.ascii)).append(style_.key_separator);
        write(member.second, depth + 1);
      });
    } else if (value.is_none()) {
      out += "null";
    } else if (const auto* b = value.get<bool>()) {
      out += *b ? "true" : "false";
    } else if (const auto* d = value.get<double>(); d && !std::isfinite(*d)) {
      out += std::isnan(*d) ? "NaN" : *d > 0 ? "Infinity" : "-Infinity";
    } else if (value.number()) {
      out += to_text(value);
    } else {
      fail(where, fmt::format("tojson: {} is no value of JSON", value.type_name()));
    }
  }

  std::string out;

 private:
  template <class Range, class Write>
  void write_all(const Range& range, char open, char close, int depth, const Write& write_one) {
    out += open;
    bool first = true;
    for (const auto& item : range) {
      if (!first) out += separator_;
      new_line(depth + 1);
      write_one(item);
      if (out.size() > longest_text) refuse("tojson: the text becomes too long");
      first = false;
    }
    if (!first) new_line(depth);
    out += close;
  }
  void new_line(int depth) {
    if (style_.indent >= 0) out.append(1, '\n').append(static_cast<std::size_t>(depth * style_.indent), ' ');
  }

  const JsonStyle& style_;
  std::string separator_;
};

Value from_json(const nlohmann::ordered_json& json, int depth) {
  check_depth(depth);
  if (json.is_string()) return json.get<std::string>();
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_unsigned() && json.get<std::uint64_t>() > std::uint64_t{1} << 63 >> 1)
    fail(where, fmt::format("the number {} is too large", json.get<std::uint64_t>()));
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

Value::Value(std::string v) : weight_(weight_of(v)) {
  data_ = std::make_shared<const std::string>(std::move(v));
}

Value::Value(List v) {
  for (const Value& item : v) take(item);
  check_depth(++depth_);
  data_ = std::make_shared<const List>(std::move(v));
}

Value Value::tuple(List v) {
  Value value(std::move(v));
  value.tuple_ = true;
  return value;
}

Value Value::view(List v) {
  Value value(std::move(v));
  value.view_ = true;
  return value;
}

Value::Value(Dict v) {
  for (const auto& [key, member] : v) take(member), add_weight(weight_of(key));
  check_depth(++depth_);
  data_ = std::make_shared<const Dict>(std::move(v));
}

Value::Value(std::shared_ptr<Namespace> v) : data_(std::move(v)), bound_(true) {}
Value::Value(Callable v) : data_(std::make_shared<const Callable>(std::move(v))), bound_(true) {}

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
  for (const auto& [key, member] : (*ns)->members) all += weight_of(key) + member.weight_;
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
  constexpr std::array<std::string_view, 10> names = {
      "an undefined value", "none",   "a boolean", "an integer",  "a float",
      "a string",           "a list", "a mapping", "a namespace", "a function"};
  return names[data_.index()];
}

bool equal(const Value& a, const Value& b) {
  if (const auto x = a.integer(), y = b.integer(); x && y) return *x == *y;
  if (const auto x = a.number(), y = b.number(); x && y) return *x == *y;
  if (const auto* x = a.get<std::string>(), *y = b.get<std::string>(); x && y) return *x == *y;
  if (const auto* x = a.get<List>(), *y = b.get<List>(); x && y)
    return a.is_tuple() == b.is_tuple() && a.is_view() == b.is_view() && x->size() == y->size() &&
           std::equal(x->begin(), x->end(), y->begin(), equal);
  if (const auto* x = a.get<Dict>(), *y = b.get<Dict>(); x && y)
    return x->size() == y->size() && std::all_of(x->begin(), x->end(), [&](const auto& member) {
             const Value* other = find(*y, member.first);
             return other && equal(member.second, *other);
           });
  if (const auto* x = a.get<std::shared_ptr<Namespace>>(), *y = b.get<std::shared_ptr<Namespace>>(); x && y)
    return *x == *y;
  if (const auto* x = a.get<Callable>(), *y = b.get<Callable>(); x && y) return x == y;
  return (a.is_none() && b.is_none()) || (a.is_undefined() && b.is_undefined());
}

bool less(const Value& a, const Value& b) {
  if (const auto x = a.integer(), y = b.integer(); x && y) return *x < *y;
  if (const auto x = a.number(), y = b.number(); x && y) return *x < *y;
  if (const auto* x = a.get<std::string>(), *y = b.get<std::string>(); x && y) return *x < *y;
  if (const auto* x = a.get<List>(), *y = b.get<List>(); x && y) {
    for (std::size_t i = 0; i < std::min(x->size(), y->size()); ++i)
      if (!equal((*x)[i], (*y)[i])) return less((*x)[i], (*y)[i]);
    return x->size() < y->size();
  }
  fail(where, fmt::format("{} and {} have no order", a.type_name(), b.type_name()));
}

const Value* find(const Dict& dict, std::string_view key) {
  for (const auto& [name, member] : dict)
    if (name == key) return &member;
  return nullptr;
}

std::string to_text(const Value& value) {
  if (const auto* s = value.get<std::string>()) return *s;
  if (value.is_undefined()) return "";
  if (value.is_none()) return "None";
  if (const auto* b = value.get<bool>()) return *b ? "True" : "False";
  if (const auto* i = value.get<std::int64_t>()) return std::to_string(*i);
  if (const auto* d = value.get<double>()) return float_text(*d);
  if (const auto* ns = value.get<std::shared_ptr<Namespace>>())
    return "<Namespace " + dict_repr((*ns)->members, 0) + ">";
  if (const auto* f = value.get<Callable>()) return "<function " + f->name + ">";
  return repr(value, 0);
}

std::string to_repr(const Value& value) {
  return repr(value, 0);
}

std::string to_json(const Value& value, const JsonStyle& style) {
  JsonWriter writer(style);
  writer.write(value, 0);
  return writer.out;
}

Value from_json(const nlohmann::ordered_json& json) {
  return from_json(json, 0);
}

}  // namespace tril::chat
