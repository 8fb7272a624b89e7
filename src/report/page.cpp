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

}  // namespace tril::train
