// The page that shows a pass step by step: one HTML document with its style and script, compiled in from the files of page/. The server
// gives it at /inside, where it asks POST /trace for the values; `tril explain` writes it with the values inside.
#pragma once

#include <string>
#include <string_view>

namespace tril::inside {

/// @param data  JSON of the pass (file.h); "null": the page asks the server that it comes from
/// @param nonce  of the Content-Security-Policy that allows its style and script; "": there is none
std::string page(const std::string& data, std::string_view nonce);

/// A file of page/ by name.
std::string_view inside_part(std::string_view name);

}  // namespace tril::inside
