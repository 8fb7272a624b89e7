#include "cli/serving/server_keys.h"

#include <charconv>
#include <cstdlib>
#include <optional>
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

// The number in a word that begins with "NAME=", or nothing.
std::optional<std::int64_t> limit_in(std::string_view word, std::string_view name, const std::string& where) {
  if (!word.starts_with(name) || word.substr(name.size(), 1) != "=") return std::nullopt;
  const std::string_view number = word.substr(name.size() + 1);
  std::int64_t limit = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), limit);
  check(error == std::errc() && end == number.data() + number.size() && limit >= 0, where,
        "\"{}\": expected a number, such as {}=500", printable(word, 40), name);
  return limit;
}

// "KEY", "KEY characters=500000", "KEY requests=60" or both, whose limits are taken off the line. Keys may have blanks.
std::string key_of_line(std::string_view line, const std::string& where, serve::Keys& keys) {
  std::optional<std::int64_t> characters, requests;
  for (;;) {
    const std::size_t blank = line.find_last_of(" \t");
    const std::string_view last = line.substr(blank == line.npos ? 0 : blank + 1);
    const auto more_characters = limit_in(last, "characters", where), more_requests = limit_in(last, "requests", where);
    if (!more_characters && !more_requests) break;
    check(blank != line.npos, where, "\"{}\": a limit without a key", printable(last, 40));
    check(!(more_characters ? characters : requests), where, "\"{}\": the key has this limit twice",
          printable(last, 40));
    if (more_characters) characters = more_characters;
    if (more_requests) requests = more_requests;
    check(requests != 0, where, "\"requests=0\": expected at least 1; remove a key that may send no requests");
    line = trim(line.substr(0, blank));
  }
  std::string key(line);
  if (characters) keys.most_characters[key] = *characters;
  if (requests) keys.most_requests[key] = *requests;
  return key;
}

std::vector<std::string> read_keys(const std::string& path, serve::Keys& limits) {
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
  keys.api = read_keys(o.api_key_file, keys);
  keys.admin = read_keys(o.admin_key_file, keys);
  if (const char* const key = std::getenv("TRIL_API_KEY"); key && *key) {
    check_length("TRIL_API_KEY", key);
    keys.api.emplace_back(key);
  }
  return keys;
}

}  // namespace tril::cli
