// Self-contained pages of one HTML file. Their scripts and styles are in src/report/report_page/ and are compiled in
// (cmake/embed.cmake). A page holds one JSON object in a script element that is never executed; its script reads it and
// inserts every text as plain text. A content security policy forbids loading anything else.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace tril::train {

/// The embedded scripts and styles: "page.html", "page.css", "chart.js", ...
std::string_view page_part(std::string_view name);

/// `html` with its styles, scripts and data inserted.
/// @param data  JSON
std::string assembled_page(std::string_view html, std::initializer_list<const char*> styles,
                           std::initializer_list<const char*> scripts, const std::string& data);

}  // namespace tril::train
