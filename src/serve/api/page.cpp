#include "serve/api/page.h"

#include <fmt/format.h>

#include <array>
#include <random>

#include "format/page_parts.h"
#include "inside/page.h"

namespace tril::serve {
namespace {

constexpr std::array script{"requests.js",        "views.js",   "models.js", "translating.js", "words.js",
                            "alternatives.js",    "files.js",   "heads.js",  "comparing.js",   "glossaries.js",
                            "glossary_editor.js", "writing.js", "status.js", "start.js"};

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
    put_part(page, "%NONCE%", nonce);
    put_part(page, "%STYLE%", web_page_part("page.css"));
    put_part(page, "%SCRIPT%", joined_script(script, &web_page_part));
    return page;
  });
}

HttpResponse inside_page() {
  return page_response([](const std::string& nonce) { return inside::page("null", nonce); });
}

}  // namespace tril::serve
