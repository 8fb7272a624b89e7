// The page at /: one HTML document with its style and script, which are the files of page/ compiled in.
#pragma once

#include <string_view>

#include "serve/http/http.h"

namespace tril::serve {

/// The page; scripts and styles that are not its own do not run in it (a Content-Security-Policy with a number that is
/// another one each time).
HttpResponse web_page();

/// A file of page/ by its name.
std::string_view web_page_part(std::string_view name);

}  // namespace tril::serve
