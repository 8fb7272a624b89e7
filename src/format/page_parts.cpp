#include "format/page_parts.h"

#include <fmt/format.h>

#include "base/error.h"

namespace tril {
namespace {

std::size_t place_of(const std::string& page, std::string_view mark) {
  const std::size_t at = page.find(mark);
  check(at != std::string::npos, "page", "the page has no place for {}", mark);
  return at;
}

}  // namespace

void put_part(std::string& page, std::string_view mark, std::string_view text) {
  for (std::size_t at = place_of(page, mark); at != std::string::npos; at = page.find(mark, at + text.size()))
    page.replace(at, mark.size(), text);
}

void put_data(std::string& page, std::string_view mark, std::string_view json) {
  std::string harmless;
  for (const char ch : json) {
    if (ch == '<')  // could begin the end tag of the element
      harmless += "\\u003c";
    else
      harmless += ch;
  }
  page.replace(place_of(page, mark), mark.size(), harmless);
}

std::string joined_script(std::span<const char* const> names, std::string_view (*part_of)(std::string_view name)) {
  std::string text;
  for (const char* const name : names) text += fmt::format("// {}\n{}\n", name, part_of(name));
  return text;
}

}  // namespace tril
