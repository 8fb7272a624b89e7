#include "chat/template_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/printable.h"
#include "chat/template_functions.h"
#include "chat/template_markup.h"
#include "chat/template_number_format.h"
#include "chat/template_operators.h"
#include "chat/template_text.h"
#include "chat/template_written.h"
#include "unicode/characters.h"

namespace tril::chat {
namespace {

constexpr std::int64_t widest = 1'000'000;

// Bytes of the sign and prefix before a number's digits.
std::size_t sign_length(std::string_view text) {
  std::size_t n = text.starts_with('-') || text.starts_with('+') || text.starts_with(' ') ? 1 : 0;
  const char second = n + 1 < text.size() && text[n] == '0' ? text[n + 1] : '\0';
  return std::string_view("boxX").find(second) != std::string_view::npos && second != '\0' ? n + 2 : n;
}

std::string number_aligned(const Value& value, FormatSpec spec, Budget& budget) {
  const std::string text = number_text(value, spec);
  if (spec.align == '\0') spec.align = spec.zeros ? '=' : '>';
  if (spec.zeros && spec.align == '=') spec.fill = "0";
  return aligned(text, spec, sign_length(text), budget);
}

std::string cut(const std::string& text, std::int64_t precision) {
  if (precision < 0) return text;
  const Value end = precision;
  return std::string(part_of(text, nullptr, &end)->text);
}

std::int64_t read_number(std::string_view s, std::size_t& at) {
  std::int64_t n = 0;
  for (; at < s.size() && s[at] >= '0' && s[at] <= '9'; ++at)
    if ((n = n * 10 + (s[at] - '0')) > widest) refuse("a format is too wide");
  return n;
}

// ---- %

class Percent {
 public:
  Percent(const Value& format, const Value& values, Budget& budget)
      : format_(format), values_(values), budget_(budget), text_(*format.get<std::string>()) {}

  Value write() {
    std::string out;
    for (std::size_t at = 0; at < text_.size();) {
      if (text_[at] != '%') {
        const std::size_t end = std::min(text_.find('%', at), text_.size());
        out.append(text_, at, end - at);
        at = end;
        continue;
      }
      out += field(++at);
      budget_.pay(10);
      if (out.size() > longest_text) refuse("a string becomes too long");
    }
    const bool has_members = values_.get<Dict>() || values_.is_undefined() ||
                             (values_.get<List>() && !values_.is_tuple() && !values_.is_view());
    const std::size_t given = values_.is_tuple() ? values_.get<List>()->size() : 1;
    if (taken_ < given && !has_members) refuse("% has more values than its format uses");
    return Value::text_like(format_, std::move(out));
  }

 private:
  // A conversion: after the %, up to and including its type.
  std::string field(std::size_t& at) {
    if (at < text_.size() && text_[at] == '%') {
      ++at;
      return "%";
    }
    FormatSpec spec;
    const Value* member = nullptr;
    if (at < text_.size() && text_[at] == '(') member = named(at);
    for (; at < text_.size() && std::string_view("#0- +").find(text_[at]) != std::string_view::npos; ++at) {
      if (text_[at] == '#') spec.alternate = true;
      if (text_[at] == '0') spec.zeros = true;
      if (text_[at] == '-') spec.align = '<';
      if (text_[at] == '+' || (text_[at] == ' ' && spec.sign == '\0')) spec.sign = text_[at];
    }
    spec.width = star_or_number(at);
    if (spec.width < 0) spec.align = '<', spec.width = -spec.width;
    if (at < text_.size() && text_[at] == '.') spec.precision = std::max<std::int64_t>(0, star_or_number(++at));
    if (at < text_.size() && std::string_view("hlL").find(text_[at]) != std::string_view::npos) ++at;
    if (at >= text_.size()) refuse("a format ends after its %");
    spec.type = text_[at++];
    return value_text(member ? *member : next(), spec);
  }

  const Value* named(std::size_t& at) {
    std::size_t depth = 1, end = ++at;
    for (; end < text_.size() && depth > 0; ++end) depth += text_[end] == '(' ? 1 : text_[end] == ')' ? -1 : 0;
    if (depth > 0) refuse("a name in a format is not closed with \")\"");
    const auto* dict = values_.get<Dict>();
    if (!dict) refuse("a format with names takes a mapping");
    const std::string name = text_.substr(at, end - 1 - at);
    budget_.pay(1 + dict->size() * (1 + name.size() / 64));
    const Value* found = find(*dict, std::string_view(name));
    if (!found) refuse(fmt::format("the mapping lacks \"{}\" of the format", printable(name)));
    at = end;
    ++taken_;
    return found;
  }

  std::int64_t star_or_number(std::size_t& at) {
    if (at >= text_.size() || text_[at] != '*') return read_number(text_, at);
    ++at;
    const auto n = next().integer();
    if (!n || format_.is_markup() || *n > widest || *n < -widest) refuse("a width in a format is not a valid number");
    return *n;
  }

  const Value& next() {
    if (values_.is_tuple() ? taken_ >= values_.get<List>()->size() : taken_ >= 1)
      refuse("% has too few values for its format");
    return values_.is_tuple() ? (*values_.get<List>())[taken_++] : (++taken_, values_);
  }

  std::string value_text(const Value& value, FormatSpec spec) {
    const char type = spec.type;
    if (type == 's' || type == 'r' || type == 'a') {
      budget_.pay_whole(value);
      std::string text = type == 's' ? to_text(value) : type == 'r' ? to_repr(value) : to_ascii(value);
      if (format_.is_markup() && !(type == 's' && value.is_markup())) text = escaped(text);
      if (spec.align == '\0') spec.align = '>';
      return aligned(cut(text, spec.precision), spec, 0, budget_);
    }
    if (type == 'c') {
      if (spec.align == '\0') spec.align = '>';
      const auto* s = value.get<std::string>();
      std::string one = s ? *s : "";
      if (const auto code = value.integer(); code && !format_.is_markup()) {
        if (*code < 0 || *code > 0x10ffff || (*code >= 0xd800 && *code < 0xe000)) refuse("%c takes a character");
        append_utf8(one, static_cast<char32_t>(*code));
      }
      if (length_of(one) != 1 || format_.is_markup()) refuse("%c takes a character");
      return aligned(one, spec, 0, budget_);
    }
    return number(value, spec);
  }

  std::string number(const Value& value, FormatSpec spec) {
    const bool real = std::string_view("eEfFgG").find(spec.type) != std::string_view::npos;
    const bool whole = std::string_view("diuoxX").find(spec.type) != std::string_view::npos;
    if (!real && !whole)
      refuse(fmt::format("the type \"{}\" of a format is unknown", printable(std::string(1, spec.type))));
    const auto n = value.number();
    if (!n) refuse(fmt::format("%{} takes a number, not {}", spec.type, value.type_name()));
    Value what = value;
    const bool needs_whole = std::string_view("oxX").find(spec.type) != std::string_view::npos;
    if (real) {
      what = Value(*n);
    } else if (!value.integer() || (needs_whole && format_.is_markup())) {
      if (needs_whole || !(std::abs(*n) < 9.2e18))
        refuse(fmt::format("%{} takes an integer, not {}", spec.type, value.type_name()));
      what = static_cast<std::int64_t>(*n);
    }
    if (spec.align == '<') spec.zeros = false;
    std::string text = number_text(what, spec);
    if (whole && spec.precision >= 0) {  // at least so many digits
      const std::size_t sign = sign_length(text);
      const std::int64_t lacking = spec.precision - static_cast<std::int64_t>(text.size() - sign);
      text.insert(sign, padded("", lacking, 0, "0", budget_));
    }
    if (spec.align == '\0') spec.align = spec.zeros ? '=' : '>';
    if (spec.align == '=') spec.fill = "0";
    return aligned(text, spec, sign_length(text), budget_);
  }

  const Value &format_, &values_;
  Budget& budget_;
  const std::string& text_;
  std::size_t taken_ = 0;
};

// ---- {}

FormatSpec read_spec(std::string_view s) {
  FormatSpec spec;
  std::size_t at = 0;
  bool filled = false;
  const auto is_align = [&](std::size_t i) {
    return i < s.size() && std::string_view("<>^=").find(s[i]) != std::string_view::npos;
  };
  if (!s.empty()) {
    const std::size_t first = character_at(s, 0).length;
    if (is_align(first))
      spec.fill = s.substr(0, first), spec.align = s[first], at = first + 1, filled = true;
    else if (is_align(0))
      spec.align = s[0], at = 1;
  }
  const auto take = [&](std::string_view any) { return at < s.size() && any.find(s[at]) != any.npos ? s[at++] : '\0'; };
  if (const char sign = take("+- ")) spec.sign = sign;
  spec.alternate = take("#") != '\0';
  if (!filled && take("0") != '\0') {
    spec.fill = "0";
    spec.zeros = spec.align == '\0';  // between a number's sign and its digits
  }
  spec.width = read_number(s, at);
  spec.grouping = take(",_");
  if (take(".") != '\0') {
    const std::size_t before = at;
    spec.precision = read_number(s, at);
    if (at == before) refuse("a format has no digits after its point");
  }
  spec.type = take("bcdeEfFgGnosxX%");
  if (at != s.size()) refuse(fmt::format("the format \"{}\" is unknown", printable(s)));
  return spec;
}

// format(value, spec)
std::string formatted(const Value& value, std::string_view written, Budget& budget) {
  budget.pay_whole(value);
  if (written.empty()) return to_text(value);
  FormatSpec spec = read_spec(written);
  if (const auto* s = value.get<std::string>()) {
    if ((spec.type != '\0' && spec.type != 's') || spec.sign != '\0' || spec.alternate || spec.grouping != '\0' ||
        spec.align == '=')
      refuse(fmt::format("the format \"{}\" does not take a string", printable(written)));
    return aligned(cut(*s, spec.precision), spec, 0, budget);
  }
  if (!value.number()) refuse(fmt::format("the format \"{}\" does not take {}", printable(written), value.type_name()));
  if (spec.type == 'c' || spec.type == 's')
    refuse(fmt::format("the format \"{}\" does not take {}", printable(written), value.type_name()));
  if (value.integer() && spec.precision >= 0 &&
      (spec.type == '\0' || std::string_view("bdoxXn").find(spec.type) != std::string_view::npos))
    refuse(fmt::format("the format \"{}\" has a precision for an integer", printable(written)));
  return number_aligned(value, spec, budget);
}

class Braces {
 public:
  Braces(const Value& format, const Arguments& arguments, Budget& budget)
      : format_(format), arguments_(arguments), budget_(budget) {}

  std::string write(std::string_view text, int depth) {
    if (depth > 1) refuse("a format is nested too deep");
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
      const char c = text[at];
      if ((c == '{' || c == '}') && at + 1 < text.size() && text[at + 1] == c && depth == 0) {
        out += c;
        at += 2;
      } else if (c == '{') {
        const std::size_t end = end_of_field(text, at + 1);
        out += field(text.substr(at + 1, end - at - 1), depth);
        at = end + 1;
      } else if (c == '}') {
        refuse("a format has an unmatched \"}\"");
      } else {
        out += c;
        ++at;
      }
      budget_.pay(2);
      if (out.size() > longest_text) refuse("a string becomes too long");
    }
    return out;
  }

 private:
  static std::size_t end_of_field(std::string_view text, std::size_t at) {
    for (std::size_t depth = 1; at < text.size(); ++at) {
      depth += text[at] == '{' ? 1 : 0;
      if (text[at] == '}' && --depth == 0) return at;
    }
    refuse("a format has an unclosed \"{\"");
  }

  // name, then .member and [key], then !s or the like, then : and the format
  std::string field(std::string_view text, int depth) {
    const std::size_t colon = text.find(':'), mark = std::min(text.find('!'), text.size());
    const bool converts = mark < std::min(colon, text.size());
    const std::string_view path = text.substr(0, converts ? mark : std::min(colon, text.size()));
    Value value = follow(path);
    if (converts) {
      const std::string_view way = text.substr(mark + 1, std::min(colon, text.size()) - mark - 1);
      budget_.pay_whole(value);
      if (way == "r")
        value = Value(to_repr(value));
      else if (way == "a")
        value = Value(to_ascii(value));
      else if (way == "s")
        value = Value(to_text(value));
      else
        refuse(fmt::format("the conversion \"{}\" of a format is unknown", printable(way)));
    }
    const std::string spec = colon == text.npos ? "" : write(text.substr(colon + 1), depth + 1);
    if (!format_.is_markup()) return formatted(value, spec, budget_);
    if (value.is_markup() && !spec.empty()) refuse("a format of markup has no width or type");
    return value.is_markup() ? to_text(value) : escaped(formatted(value, spec, budget_));
  }

  Value follow(std::string_view path) {
    std::size_t at = std::min(path.find_first_of(".["), path.size());
    Value value = first(path.substr(0, at));
    while (at < path.size()) {
      const bool bracket = path[at] == '[';
      const std::size_t end = bracket ? path.find(']', at) : std::min(path.find_first_of(".[", at + 1), path.size());
      if (end == path.npos) refuse("a format has an unclosed \"[\"");
      const std::string_view name = path.substr(at + 1, end - at - 1);
      if (name.empty()) refuse("a format has an empty member name");
      at = end + (bracket ? 1 : 0);
      if (at < path.size() && path[at] != '.' && path[at] != '[') refuse("a format has text after its \"]\"");
      std::size_t digits = 0;
      const bool number = bracket && name.find_first_not_of("0123456789") == name.npos;
      value = bracket ? subscript(value, number ? Value(read_number(name, digits)) : Value(name), budget_)
                      : attribute(value, name, budget_);
    }
    return value;
  }

  Value first(std::string_view name) {
    if (name.empty() || name.find_first_not_of("0123456789") == name.npos) {
      std::size_t at = 0;
      const std::size_t i = name.empty() ? next_++ : static_cast<std::size_t>(read_number(name, at));
      (name.empty() ? counted_ : numbered_) = true;
      if (counted_ && numbered_) refuse("a format mixes numbered and unnumbered fields");
      if (i >= arguments_.positional.size()) refuse(fmt::format("format() has no value for position {}", i));
      return arguments_.positional[i];
    }
    budget_.pay(1 + arguments_.named.size() * (1 + name.size() / 64));
    for (const auto& [known, value] : arguments_.named)
      if (known == name) return value;
    refuse(fmt::format("format() has no value for \"{}\"", printable(name)));
  }

  const Value& format_;
  const Arguments& arguments_;
  Budget& budget_;
  std::size_t next_ = 0;
  bool counted_ = false, numbered_ = false;
};

}  // namespace

Value percent_format(const Value& format, const Value& values, Budget& budget) {
  return Percent(format, values, budget).write();
}

Value brace_format(const Value& format, const Arguments& arguments, Budget& budget) {
  return Value::text_like(format, Braces(format, arguments, budget).write(*format.get<std::string>(), 0));
}

}  // namespace tril::chat
