#include "serve/http/origins.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/printable.h"
#include "serve/http/http_error.h"

namespace tril::serve {
namespace {

// "localhost:8080", "127.0.0.1", "[::1]:8080": names that only this machine can have.
bool is_own_name(std::string_view host) {
  if (host.starts_with('[')) return true;
  const std::string name = lower(host.substr(0, host.find(':')));
  return name == "localhost" || name.ends_with(".localhost") ||
         name.find_first_not_of("0123456789.") == std::string::npos;
}

}  // namespace

Headers cors_headers(const HttpRequest& request, const OriginOptions& o) {
  const auto origin = request.header("origin");
  if (!origin) return {};
  // An allowed page may send any headers: OpenAI's client has a dozen of its own.
  const std::string heads =
      request.header("access-control-request-headers").value_or("Authorization, Content-Type, X-API-Key");
  for (const std::string& allowed : o.allowed)
    if (allowed == "*" || allowed == *origin)
      return {{"Access-Control-Allow-Origin", allowed == "*" ? "*" : *origin},
              {"Access-Control-Allow-Headers", heads},
              {"Access-Control-Allow-Methods", "GET, POST, OPTIONS"},
              {"Access-Control-Max-Age", "600"},
              {"Vary", "Origin"}};
  return {};
}

// A browser sends requests for any open page, and names the page. A foreign name that resolves to this machine (DNS
// rebinding) would make another's page look like one of this server's, so without keys only known names are accepted.
void check_origin(const HttpRequest& request, const OriginOptions& o) {
  const auto host = request.header("host"), origin = request.header("origin");
  const auto is_allowed = [&](std::string_view page) {
    return std::any_of(o.allowed.begin(), o.allowed.end(), [&](const std::string& allowed) {
      return allowed == "*" || allowed == page || std::string_view(allowed).ends_with("://" + std::string(page));
    });
  };
  if (o.own_names_only && host && !is_own_name(*host) && !is_allowed(*host))
    throw HttpError(403,
                    fmt::format("the request names the host {}, which this server does not know: add it to "
                                "`cors_origins`, or send a key with requests",
                                printable(*host)),
                    "permission_error");
  if (!origin || is_allowed(*origin)) return;
  const std::size_t scheme = origin->find("://");
  if (!host || scheme == std::string::npos || origin->substr(scheme + 3) != *host)
    throw HttpError(403,
                    fmt::format("pages of {} are not allowed, unless `cors_origins` lists them", printable(*origin)),
                    "permission_error");
}

}  // namespace tril::serve
