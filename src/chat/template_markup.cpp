#include "chat/template_markup.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/printable.h"
#include "chat/template_text.h"
#include "chat/template_written.h"
#include "unicode/characters.h"

namespace tril::chat {
namespace {

struct Entity {
  char sign;
  std::string_view written;
};
constexpr std::size_t longest_reference = 16;  // bytes

constexpr std::array<Entity, 5> entities{
    {{'&', "&amp;"}, {'>', "&gt;"}, {'<', "&lt;"}, {'\'', "&#39;"}, {'"', "&#34;"}}};

// Replaces entities by their characters: the five that escape() writes, their names too, and numeric ones.
std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '&') {
      out += text[at];
      continue;
    }
    const std::string_view rest = text.substr(at + 1);
    const std::size_t end = rest.substr(0, longest_reference).find(';');
    if (rest.starts_with('#')) {
      const bool hex = rest.size() > 1 && (rest[1] | 0x20) == 'x';
      const std::string_view digits = rest.substr(0, end).substr(hex ? 2 : 1);
      std::uint32_t code = 0;
      const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), code, hex ? 16 : 10);
      const bool whole = end != rest.npos && read.ec == std::errc{} && read.ptr == digits.data() + digits.size();
      if (!whole || code < 0x20 || (code >= 0x7f && code < 0xa0) || code > 0xffff || (code >= 0xd800 && code < 0xe000))
        refuse(fmt::format("striptags: the entity \"&{}\" is not supported", printable(rest.substr(0, 10))));
      append_utf8(out, code);
      at += 1 + end;
      continue;
    }
    constexpr std::array<std::pair<std::string_view, char>, 5> names{
        {{"amp;", '&'}, {"gt;", '>'}, {"lt;", '<'}, {"quot;", '"'}, {"apos;", '\''}}};
    const auto* const named =
        std::find_if(names.begin(), names.end(), [&](const auto& one) { return rest.starts_with(one.first); });
    if (named != names.end()) {
      out += named->second;
      at += named->first.size();
    } else if (!rest.empty() && ((rest[0] | 0x20) >= 'a' && (rest[0] | 0x20) <= 'z')) {
      refuse(fmt::format("striptags: the entity \"&{}\" is not supported", printable(rest.substr(0, 10))));
    } else {
      out += '&';
    }
  }
  return out;
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto* const entity =
        std::find_if(entities.begin(), entities.end(), [c](const Entity& one) { return one.sign == c; });
    if (entity == entities.end())
      out += c;
    else
      out += entity->written;
  }
  return out;
}

Value to_markup(const Value& value, Budget& budget) {
  if (value.is_markup()) return value;
  const std::string text = printed(value, budget);
  budget.pay_text(8 * text.size());
  return Value::markup(escaped(text));
}

std::string text_for(const Value& like, const Value& argument, std::string_view whose, Budget& budget) {
  if (like.is_markup()) return to_text(to_markup(argument, budget));
  const std::string& text = text_of(argument, whose);
  budget.pay_text(text.size());
  return text;
}

Value sum_of_texts(const Value& a, const Value& b, Budget& budget) {
  const bool markup = a.is_markup() || b.is_markup();
  const auto part = [&](const Value& one) {
    const std::string& text = *one.get<std::string>();
    budget.pay_text(text.size());
    return markup && !one.is_markup() ? escaped(text) : text;
  };
  std::string sum = part(a) + part(b);
  if (sum.size() > longest_text) refuse("a string becomes too long");
  return markup ? Value::markup(std::move(sum)) : Value(std::move(sum));
}

std::string without_tags(std::string_view text, Budget& budget) {
  budget.pay(text.size());
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t open = text.find('<', at);
    const bool comment = open != text.npos && text.substr(open).starts_with("<!--");
    const std::size_t end = open == text.npos ? text.npos : comment ? text.find("-->", open + 4) : text.find('>', open);
    if (end == text.npos) {
      out += text.substr(at);
      break;
    }
    out += text.substr(at, open - at);
    at = end + (comment ? 3 : 1);
  }
  std::string words;
  for (const std::string_view word : split(out, nullptr, -1, false, budget))
    words.append(words.empty() ? "" : " ").append(word);
  return unescaped(words);
}

std::string xml_attributes(const Value& value, bool space_in_front, Budget& budget) {
  const auto* dict = value.get<Dict>();
  if (!dict) refuse(fmt::format("xmlattr takes a mapping, not {}", value.type_name()));
  std::string out;
  for (const auto& [key, member] : *dict) {
    if (member.is_none() || member.is_undefined()) continue;
    const std::string& name = text_of(key, "xmlattr");
    if (name.find_first_of(" \t\n\r\f\v/>=") != name.npos)
      refuse(fmt::format("xmlattr: \"{}\" cannot name an attribute", printable(name)));
    out.append(out.empty() && !space_in_front ? "" : " ")
        .append(to_text(to_markup(key, budget)))
        .append("=\"")
        .append(to_text(to_markup(member, budget)))
        .append("\"");
  }
  return out;
}

std::string url_quoted(std::string_view text, bool query) {
  constexpr std::string_view hex = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       std::string_view("_.-~").find(c) != std::string_view::npos || (c == '/' && !query);
    if (plain)
      out += c;
    else if (c == ' ' && query)
      out += '+';
    else
      out.append(1, '%').append(1, hex[static_cast<unsigned char>(c) >> 4]).append(1, hex[c & 15]);
  }
  return out;
}

}  // namespace tril::chat
