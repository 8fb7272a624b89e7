#include "cli/serving/server_keys.h"

#include <cstdlib>
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

std::vector<std::string> read_keys(const std::string& path) {
  std::vector<std::string> keys;
  if (path.empty()) return keys;
  std::istringstream lines(read_text(path, 1 << 20));
  return from_files([&] {
    for (std::string line; std::getline(lines, line);)
      if (const std::string_view key = trim(line); !key.empty() && key[0] != '#') {
        check_length(printable(path, 400), key);
        keys.emplace_back(key);
      }
    check(!keys.empty(), printable(path, 400), "has no key");
    return keys;
  });
}

}  // namespace

serve::Keys keys_of(const ServeOptions& o) {
  serve::Keys keys{read_keys(o.api_key_file), read_keys(o.admin_key_file)};
  if (const char* const key = std::getenv("TRIL_API_KEY"); key && *key) {
    check_length("TRIL_API_KEY", key);
    keys.api.emplace_back(key);
  }
  return keys;
}

}  // namespace tril::cli
