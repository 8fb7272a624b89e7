#include "document/xml/well_formed.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <vector>

#include "base/error.h"
#include "base/line_of.h"
#include "base/printable.h"

namespace tril::document {
namespace {

// Char of XML 1.0, 2.2.
bool is_xml_character(std::uint32_t code) {
  return code == '\t' || code == '\n' || code == '\r' || (code >= 0x20 && code < 0xd800) ||
         (code >= 0xe000 && code < 0xfffe) || (code >= 0x10000 && code <= 0x10ffff);
}

// Bytes of the reference at the start of a text; 0: it is none.
std::size_t reference_size(std::string_view text) {
  constexpr std::array<std::string_view, 5> entities{"&amp;", "&lt;", "&gt;", "&quot;", "&apos;"};
  for (const std::string_view entity : entities)
    if (text.starts_with(entity)) return entity.size();
  if (!text.starts_with("&#")) return 0;
  const bool hex = text.starts_with("&#x");
  const char* const begin = text.data() + (hex ? 3 : 2);
  const char* const end = text.data() + text.size();
  std::uint32_t code = 0;
  const auto [at, error] = std::from_chars(begin, end, code, hex ? 16 : 10);
  if (error != std::errc() || at == end || *at != ';' || !is_xml_character(code)) return 0;
  return static_cast<std::size_t>(at + 1 - text.data());
}

bool is_qualified_name(std::string_view name) {
  const std::size_t colon = name.find(':');
  return colon == std::string_view::npos ||
         (colon > 0 && colon + 1 < name.size() && name.find(':', colon + 1) == std::string_view::npos);
}

}  // namespace

void check_xml_characters(std::string_view bytes, const std::string& where) {
  const auto* const wrong = std::find_if(bytes.begin(), bytes.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 && !is_xml_character(static_cast<unsigned char>(c));
  });
  if (wrong != bytes.end())
    fail(fmt::format("{}: line {}", where, line_of(bytes, static_cast<std::size_t>(wrong - bytes.begin()))),
         fmt::format("is not well-formed XML: the control character {:#04x}", static_cast<unsigned char>(*wrong)),
         save_again);
}

void check_xml_references(std::string_view text, const std::string& where) {
  for (std::size_t at = text.find('&'); at != std::string_view::npos; at = text.find('&', at)) {
    const std::size_t size = reference_size(text.substr(at));
    if (size == 0)
      fail(where, fmt::format("is not well-formed XML: {} is no character", printable(text.substr(at, 12))),
           save_again);
    at += size;
  }
}

void check_xml_tag(const pugi::xml_node& element, const std::string& where) {
  const auto refuse = [&](std::string_view what) {
    fail(where, fmt::format("is not well-formed XML: <{}> {}", printable(element.name(), 60), what), save_again);
  };
  if (!is_qualified_name(element.name())) refuse("is not a name");
  std::vector<std::string_view> names;
  for (const pugi::xml_attribute a : element.attributes()) {
    const std::string_view name = a.name(), value = a.value();
    names.push_back(name);
    if (!is_qualified_name(name)) refuse(fmt::format("has the attribute {}, which is not a name", printable(name, 60)));
    if (value.find('<') != std::string_view::npos)
      refuse(fmt::format("has '<' in its attribute {}", printable(name, 60)));
  }
  std::sort(names.begin(), names.end());
  if (const auto twice = std::adjacent_find(names.begin(), names.end()); twice != names.end())
    refuse(fmt::format("has the attribute {} twice", printable(*twice, 60)));
}

}  // namespace tril::document
