#include "serve/api/page.h"

#include <fmt/format.h>

#include <array>
#include <random>

namespace tril::serve {
namespace {

void replace_all(std::string& text, std::string_view what, std::string_view by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
}

// All parts of the script, one behind the other.
std::string script() {
  constexpr std::array parts{"requests.js",        "views.js",   "models.js", "translating.js", "words.js",
                             "alternatives.js",    "files.js",   "heads.js",  "comparing.js",   "glossaries.js",
                             "glossary_editor.js", "writing.js", "status.js", "start.js"};
  std::string text;
  for (const char* part : parts) text += fmt::format("// {}\n{}\n", part, web_page_part(part));
  return text;
}

}  // namespace

HttpResponse page_response(const std::function<std::string(const std::string& nonce)>& make) {
  std::random_device random;
  const std::string nonce = fmt::format("{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
  return {
      .content_type = "text/html; charset=utf-8",
      .body = make(nonce),
      .headers = {{"Content-Security-Policy",
                   fmt::format("default-src 'none'; script-src 'nonce-{0}'; style-src 'nonce-{0}'; connect-src 'self'; "
                               "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
                               nonce)}}};
}

HttpResponse web_page() {
  return page_response([](const std::string& nonce) {
    std::string page(web_page_part("page.html"));
    replace_all(page, "%NONCE%", nonce);
    replace_all(page, "%STYLE%", web_page_part("page.css"));
    replace_all(page, "%SCRIPT%", script());
    return page;
  });
}

}  // namespace tril::serve
