#include "cli/serving/server_keys.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <map>
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

// The names of a key's limits.
constexpr std::string_view characters = "characters", per_minute = "requests", per_hour = "requests-per-hour",
                           per_day = "requests-per-day";
constexpr std::array limit_names{characters, per_minute, per_hour, per_day};

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

// A key and the limits behind it, such as "KEY characters=500000 requests=60", in any order. Keys may have blanks.
std::string key_of_line(std::string_view line, const std::string& where, serve::Keys& keys) {
  std::map<std::string_view, std::int64_t> limits;
  for (;;) {
    const std::size_t blank = line.find_last_of(" \t");
    const std::string_view last = line.substr(blank == line.npos ? 0 : blank + 1);
    const auto name = std::find_if(limit_names.begin(), limit_names.end(),
                                   [&](std::string_view n) { return limit_in(last, n, where).has_value(); });
    if (name == limit_names.end()) break;
    check(blank != line.npos, where, "\"{}\": a limit without a key", printable(last, 40));
    const std::int64_t limit = *limit_in(last, *name, where);
    check(limits.emplace(*name, limit).second, where, "\"{}\": the key has this limit twice", printable(last, 40));
    check(limit > 0 || *name == characters, where,
          "\"{}=0\": expected at least 1; remove a key that may send no requests", *name);
    line = trim(line.substr(0, blank));
  }
  std::string key(line);
  const auto limit_of = [&](std::string_view name) {
    const auto found = limits.find(name);
    return found == limits.end() ? 0 : found->second;
  };
  if (limits.contains(characters)) keys.most_characters[key] = limit_of(characters);
  const serve::RequestLimits requests{
      .per_minute = limit_of(per_minute), .per_hour = limit_of(per_hour), .per_day = limit_of(per_day)};
  if (requests.any()) keys.most_requests[key] = requests;
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
