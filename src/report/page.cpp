#include "report/page.h"

#include "base/error.h"

namespace tril::train {
namespace {

// JSON for a script element: "<", which could begin its end tag, is written as an escape.
std::string harmless(const std::string& json) {
  std::string out;
  for (char ch : json) {
    if (ch == '<')
      out += "\\u003c";
    else
      out += ch;
  }
  return out;
}

void put(std::string& page, const std::string& mark, const std::string& text) {
  const std::size_t at = page.find(mark);
  check(at != std::string::npos, "report_page", "page.html has no place for {}", mark);
  page.replace(at, mark.size(), text);
}

}  // namespace

std::string assembled_page(std::string_view html, std::initializer_list<const char*> styles,
                           std::initializer_list<const char*> scripts, const std::string& data) {
  std::string page(page_part(html)), style, script;
  for (const char* name : styles) style += page_part(name);
  for (const char* name : scripts) script += page_part(name);
  put(page, "/* style */", style);
  put(page, "/* script */", script);
  put(page, "/* data */", harmless(data));  // last: may say anything
  return page;
}

std::string base64(std::span<const std::uint8_t> bytes) {
  constexpr const char* digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t n = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) group = group << 8 | (k < n ? bytes[i + k] : 0u);
    for (std::size_t k = 0; k < 4; ++k) out += k <= n ? digits[group >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

}  // namespace tril::train
