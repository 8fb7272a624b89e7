// The web page at /: one HTML document with its style and script, compiled in from the files of page/.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "serve/http/http.h"

namespace tril::serve {

/// The page. A Content-Security-Policy with a fresh nonce each time keeps scripts and styles of others from
/// running.
HttpResponse web_page();

/// The page that shows a pass (inside/page.h), with the server's own policy.
HttpResponse inside_page();

/// A page whose scripts and styles have the nonce that `make` gets; its Content-Security-Policy allows no others.
HttpResponse page_response(const std::function<std::string(const std::string& nonce)>& make);

/// A file of page/ by name.
std::string_view web_page_part(std::string_view name);

}  // namespace tril::serve
