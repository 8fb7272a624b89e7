#include "cli/serving/server_keys.h"

#include <charconv>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/printable.h"
#include "unicode/trim.h"

namespace tril::cli {
namespace {

void check_length(const std::string& where, std::string_view key) {
  check(key.size() >= 8, where, "a key of {} characters is easy to guess, expected at least 8", key.size());
}

// "KEY" or "KEY characters=500000", whose limit is taken off the line. Keys may have blanks.
std::string key_of_line(std::string_view line, const std::string& where, std::map<std::string, std::int64_t>& limits) {
  constexpr std::string_view name = "characters=";
  const std::size_t blank = line.find_last_of(" \t");
  const std::string_view last = blank == line.npos ? "" : line.substr(blank + 1);
  if (!last.starts_with(name)) return std::string(line);
  const std::string_view number = last.substr(name.size());
  std::int64_t limit = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), limit);
  check(error == std::errc() && end == number.data() + number.size() && limit >= 0, where,
        "\"{}\": expected a number of characters, such as characters=500000", printable(last, 40));
  std::string key(trim(line.substr(0, blank)));
  limits[key] = limit;
  return key;
}

std::vector<std::string> read_keys(const std::string& path, std::map<std::string, std::int64_t>& limits) {
  std::vector<std::string> keys;
  if (path.empty()) return keys;
  std::istringstream lines(read_text(path, 1 << 20));
  return from_files([&] {
    for (std::string line; std::getline(lines, line);)
      if (const std::string_view text = trim(line); !text.empty() && text[0] != '#') {
        std::string key = key_of_line(text, printable(path, 400), limits);
        check_length(printable(path, 400), key);
        keys.push_back(std::move(key));
      }
    check(!keys.empty(), printable(path, 400), "has no key");
    return keys;
  });
}

}  // namespace

serve::Keys keys_of(const ServeOptions& o) {
  serve::Keys keys;
  keys.api = read_keys(o.api_key_file, keys.most_characters);
  keys.admin = read_keys(o.admin_key_file, keys.most_characters);
  if (const char* const key = std::getenv("TRIL_API_KEY"); key && *key) {
    check_length("TRIL_API_KEY", key);
    keys.api.emplace_back(key);
  }
  return keys;
}

}  // namespace tril::cli
