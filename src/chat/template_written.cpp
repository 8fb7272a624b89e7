#include "chat/template_written.h"

#include <fmt/format.h>
#include <unicode/uchar.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "chat/template_arguments.h"
#include "unicode/characters.h"

namespace tril::chat {
namespace {

// str.isprintable(): no control, format or unassigned characters, and no space other than the blank.
bool is_printable(const Character& c) {
  if (c.code < 0x80) return c.code >= 0x20 && c.code != 0x7f;
  return c.code == Character::not_utf8 || !(U_GET_GC_MASK(static_cast<UChar32>(c.code)) & (U_GC_C_MASK | U_GC_Z_MASK));
}

// Python quotes with ' unless the text has a ' and no ".
std::string python_quoted(std::string_view text, bool ascii) {
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
    else if (is_printable(c) && !(ascii && c.code > 0x7e))
      out += one;
    else if (const auto code = static_cast<std::uint32_t>(c.code); code < 0x100)
      out += fmt::format("\\x{:02x}", code);
    else
      out += code < 0x10000 ? fmt::format("\\u{:04x}", code) : fmt::format("\\U{:08x}", code);
  }
  return out + quote;
}

class Repr {
 public:
  explicit Repr(bool ascii) : ascii_(ascii) {}

  std::string of(const Value& value) const {
    if (const auto* s = value.get<std::string>())
      return value.is_markup() ? "Markup(" + python_quoted(*s, ascii_) + ")" : python_quoted(*s, ascii_);
    if (const auto* list = value.get<List>()) return of_list(*list, value);
    if (const auto* dict = value.get<Dict>()) return of_dict(*dict);
    if (value.is_undefined()) return "Undefined";
    if (value.is_bound()) refuse(fmt::format("{} within a list or a mapping cannot be written", value.type_name()));
    return to_text(value);
  }

  std::string of_dict(const Dict& dict) const {
    std::string text = "{";
    for (const auto& [key, member] : dict)
      text.append(text.size() > 1 ? ", " : "").append(of(key)).append(": ").append(of(member));
    return text + "}";
  }

 private:
  std::string of_list(const List& list, const Value& value) const {
    if (value.is_range()) refuse("a range cannot be written", "make it a list: | list");
    std::string text;
    for (const Value& item : list) text.append(text.empty() ? "" : ", ").append(of(item));
    switch (value.sequence()) {
      case Sequence::tuple:
      case Sequence::group:
        return "(" + text + (list.size() == 1 ? ",)" : ")");
      case Sequence::keys:
        return "dict_keys([" + text + "])";
      case Sequence::values:
        return "dict_values([" + text + "])";
      case Sequence::items:
        return "dict_items([" + text + "])";
      default:
        return "[" + text + "]";
    }
  }

  bool ascii_;
};

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
                   : style.indent                ? ","
                                                 : ", ") {}

  void write(const Value& value, int depth) {
    if (const auto* s = value.get<std::string>()) {
      out += json_text(*s, style_.ascii);
    } else if (const auto* list = value.get<List>(); list && value.is_plain_list()) {
      write_all(*list, '[', ']', depth, [&](const Value& item) { write(item, depth + 1); });
    } else if (const auto* dict = value.get<Dict>()) {
      Dict members = *dict;
      if (style_.sort_keys)
        std::stable_sort(members.begin(), members.end(),
                         [](const auto& a, const auto& b) { return less(a.first, b.first); });
      write_all(members, '{', '}', depth, [&](const auto& member) {
        out.append(json_text(key_text(member.first), style_.ascii)).append(style_.key_separator);
        write(member.second, depth + 1);
      });
    } else if (const auto plain = scalar(value)) {
      out += *plain;
    } else {
      refuse(fmt::format("tojson: {} is not a JSON value",
                         value.is_view() || value.is_range() ? "a range or a view" : value.type_name()),
             value.is_view() || value.is_range() || value.get<std::shared_ptr<Generator>>() ? "make it a list: | list"
                                                                                            : "");
    }
  }

  std::string out;

 private:
  static std::optional<std::string> scalar(const Value& value) {
    if (value.is_none()) return "null";
    if (const auto* b = value.get<bool>()) return *b ? "true" : "false";
    if (const auto* d = value.get<double>(); d && !std::isfinite(*d))
      return std::isnan(*d) ? "NaN" : *d > 0 ? "Infinity" : "-Infinity";
    return value.number() ? std::optional(to_text(value)) : std::nullopt;
  }
  static std::string key_text(const Value& key) {
    if (const auto* s = key.get<std::string>()) return *s;
    if (const auto plain = scalar(key)) return *plain;
    refuse(fmt::format("tojson: {} cannot be a JSON key", key.type_name()));
  }

  template <class Range, class Write>
  void write_all(const Range& range, char open, char close, int depth, const Write& write_one) {
    out += open;
    bool first = true;
    for (const auto& item : range) {
      if (!first) out += separator_;
      new_line(depth + 1);
      write_one(item);
      if (out.size() > longest_text) refuse("tojson: the string becomes too long");
      first = false;
    }
    if (!first) new_line(depth);
    out += close;
  }
  void new_line(int depth) {
    if (!style_.indent) return;
    out += '\n';
    for (int i = 0; i < depth; ++i) out += *style_.indent;
  }

  const JsonStyle& style_;
  std::string separator_;
};

}  // namespace

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

std::string to_text(const Value& value) {
  if (const auto* s = value.get<std::string>()) return *s;
  if (value.is_undefined()) return "";
  if (value.is_none()) return "None";
  if (const auto* b = value.get<bool>()) return *b ? "True" : "False";
  if (const auto* i = value.get<std::int64_t>()) return std::to_string(*i);
  if (const auto* d = value.get<double>()) return float_text(*d);
  if (const auto* ns = value.get<std::shared_ptr<Namespace>>())
    return "<Namespace " + Repr(false).of_dict((*ns)->members) + ">";
  if (const auto* f = value.get<Callable>()) {
    if (!f->shown) refuse(fmt::format("\"{}\" is a function, which cannot be written", f->name), "call it: ...()");
    return f->shown();
  }
  // Python prints its address.
  if (value.get<std::shared_ptr<Generator>>()) refuse("a generator cannot be written", "make it a list: | list");
  return to_repr(value);
}

std::string to_repr(const Value& value) {
  return Repr(false).of(value);
}

std::string to_ascii(const Value& value) {
  return Repr(true).of(value);
}

std::string to_json(const Value& value, const JsonStyle& style) {
  JsonWriter writer(style);
  writer.write(value, 0);
  return writer.out;
}

}  // namespace tril::chat
