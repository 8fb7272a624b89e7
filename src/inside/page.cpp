#include "inside/page.h"

#include <fmt/format.h>

#include <array>

#include "base/error.h"

namespace tril::inside {
namespace {

void put(std::string& page, std::string_view mark, std::string_view text) {
  const std::size_t first = page.find(mark);
  check(first != std::string::npos, "inside", "inside.html has no place for {}", mark);
  for (std::size_t at = first; at != std::string::npos; at = page.find(mark, at + text.size()))
    page.replace(at, mark.size(), text);
}

// JSON for a script element: "<", which could begin its end tag, is written as an escape.
std::string harmless(const std::string& json) {
  std::string out;
  for (const char ch : json) {
    if (ch == '<')
      out += "\\u003c";
    else
      out += ch;
  }
  return out;
}

// All parts of the script, one behind the other.
std::string script() {
  constexpr std::array parts{"strings.js", "dom.js",   "data.js",    "operations.js", "steps.js", "matrix.js",
                             "explain.js", "value.js", "changes.js", "sampling.js",   "start.js"};
  std::string text;
  for (const char* part : parts) text += fmt::format("// {}\n{}\n", part, inside_part(part));
  return text;
}

}  // namespace

std::string page(const std::string& data, std::string_view nonce) {
  std::string text(inside_part("inside.html"));
  put(text, "%NONCE%", nonce);
  put(text, "%STYLE%", inside_part("inside.css"));
  put(text, "%SCRIPT%", script());
  const std::size_t at = text.find("%DATA%");  // last, and once: the texts may say anything
  check(at != std::string::npos, "inside", "inside.html has no place for the data");
  return text.replace(at, 6, harmless(data));
}

}  // namespace tril::inside
