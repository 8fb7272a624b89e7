// Pages of one HTML file that need nothing else. Their scripts and styles stand in src/report/report_page/ and are compiled
// in (cmake/embed.cmake). A page holds one JSON object in a script element that is never run; its script reads it and puts
// every text into the document as text. A policy in its head forbids whatever is not in the file.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace tril::train {

/// Script and style of the pages, as they were compiled in: "page.html", "page.css", "chart.js", ...
std::string_view page_part(std::string_view name);

/// `html` with its style, its script and its data at their places.
/// @param data  JSON
std::string assembled_page(std::string_view html, std::initializer_list<const char*> styles,
                           std::initializer_list<const char*> scripts, const std::string& data);

/// RFC 4648, section 4.
std::string base64(std::span<const std::uint8_t> bytes);

}  // namespace tril::train
