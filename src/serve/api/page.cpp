#include "serve/api/page.h"

#include <fmt/format.h>

#include <random>

namespace tril::serve {
namespace {

void replace_all(std::string& text, std::string_view what, std::string_view by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
}

}  // namespace

HttpResponse web_page() {
  std::random_device random;
  const std::string nonce = fmt::format("{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
  std::string page(web_page_part("page.html"));
  replace_all(page, "%NONCE%", nonce);
  replace_all(page, "%STYLE%", web_page_part("page.css"));
  replace_all(page, "%SCRIPT%", web_page_part("page.js"));
  return {
      .content_type = "text/html; charset=utf-8",
      .body = std::move(page),
      .headers = {{"Content-Security-Policy",
                   fmt::format("default-src 'none'; script-src 'nonce-{0}'; style-src 'nonce-{0}'; connect-src 'self'; "
                               "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
                               nonce)}}};
}

}  // namespace tril::serve
