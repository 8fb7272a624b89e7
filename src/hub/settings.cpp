#include "hub/settings.h"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/printable.h"
#include "hub/repo_name.h"

namespace tril::hub {
namespace {

using Variable = std::function<std::string(const std::string& name)>;

// The default of HF_ENDPOINT.
constexpr const char* default_endpoint = "https://huggingface.co";

constexpr std::uint64_t longest_token = 4096;

bool is_true(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text == "1" || text == "ON" || text == "YES" || text == "TRUE";
}

// "~" and "$NAME", as Python's expanduser and expandvars have them; an unset variable stays as it is.
std::string expanded(const std::string& path, const Variable& variable) {
  std::string out;
  for (std::size_t at = 0; at < path.size();) {
    if (at == 0 && path[0] == '~' && (path.size() == 1 || path[1] == '/')) {
      out += variable("HOME");
      ++at;
      continue;
    }
    if (path[at] != '$') {
      out += path[at++];
      continue;
    }
    const bool braces = path.compare(at, 2, "${") == 0;
    std::size_t end = at + (braces ? 2 : 1);
    const std::size_t first = end;
    while (end < path.size() && (std::isalnum(static_cast<unsigned char>(path[end])) || path[end] == '_')) ++end;
    const std::string value = variable(path.substr(first, end - first));
    const bool closed = !braces || (end < path.size() && path[end] == '}');
    if (value.empty() || !closed) {
      out += path[at++];
      continue;
    }
    out += value;
    at = end + (braces ? 1 : 0);
  }
  return out;
}

std::string trimmed(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return std::string(text);
}

// The home directory of the process's user in the system's list of users, as Python's expanduser has it; "" if the user is
// not in the list.
std::string home_of_user() {
  std::vector<char> buffer(1 << 14);
  struct passwd user {};
  struct passwd* found = nullptr;
  if (::getpwuid_r(::getuid(), &user, buffer.data(), buffer.size(), &found) != 0 || !found) return "";
  return found->pw_dir;
}

// A token is part of a header line, so it must not contain a line end.
void set_token(HubSettings& s, std::string_view text, const std::string& origin) {
  s.token = trimmed(text);
  s.token_origin = origin;
  if (!std::all_of(s.token.begin(), s.token.end(), [](unsigned char c) { return c > 0x20 && c < 0x7f; }))
    fail(printable(origin, 400), "does not hold a token: a token is one word of ASCII", "write the token there again");
}

void read_token(HubSettings& s, const std::string& home, const Variable& variable) {
  if (is_true(variable("HF_HUB_DISABLE_IMPLICIT_TOKEN"))) return;
  for (const char* name : {"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"})
    if (const std::string value = variable(name); !trimmed(value).empty()) return set_token(s, value, name);
  const std::string named = variable("HF_TOKEN_PATH");
  const std::string path = named.empty() ? home + "/token" : expanded(named, variable);
  if (is_present(path)) set_token(s, read_text(path, longest_token), path);
}

}  // namespace

std::span<const std::string> certificate_files() {
  static const std::array<std::string, 5> files{
      "/etc/ssl/certs/ca-certificates.crt",                 // Debian, Ubuntu, Arch, Alpine, NixOS
      "/etc/pki/tls/certs/ca-bundle.crt",                   // Fedora, Red Hat
      "/etc/ssl/ca-bundle.pem",                             // openSUSE
      "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  // Red Hat
      "/etc/ssl/cert.pem"};                                 // Alpine, the BSDs, macOS
  return files;
}

std::string first_present(std::span<const std::string> files) {
  const auto found = std::find_if(files.begin(), files.end(), [](const std::string& path) { return is_present(path); });
  return found == files.end() ? "" : *found;
}

HubSettings read_settings(const Variable& variable) {
  HubSettings s;
  const auto path_of = [&](const char* name, const std::string& otherwise) {
    const std::string value = variable(name);
    return value.empty() ? otherwise : expanded(value, variable);
  };
  const std::string caches = path_of("XDG_CACHE_HOME", variable("HOME") + "/.cache");
  const std::string home = path_of("HF_HOME", caches + "/huggingface");
  s.cache = path_of("HF_HUB_CACHE", path_of("HUGGINGFACE_HUB_CACHE", home + "/hub"));
  s.downloads = path_of("HF_ASSETS_CACHE", home + "/assets") + "/tril";

  s.endpoint = variable("HF_ENDPOINT");
  if (s.endpoint.empty()) s.endpoint = default_endpoint;
  while (s.endpoint.ends_with('/')) s.endpoint.pop_back();
  if (!is_url(s.endpoint))
    fail_usage("HF_ENDPOINT", "is \"" + printable(s.endpoint) + "\", expected a URL", "write https:// in front of it");

  const std::string offline = variable("HF_HUB_OFFLINE");
  s.offline = is_true(offline.empty() ? variable("TRANSFORMERS_OFFLINE") : offline);
  if (const std::string text = variable("HF_HUB_DOWNLOAD_TIMEOUT"); !text.empty()) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), s.stall_seconds);
    if (error != std::errc() || end != text.data() + text.size() || !(s.stall_seconds >= 1 && s.stall_seconds <= 86400))
      fail_usage("HF_HUB_DOWNLOAD_TIMEOUT", "is \"" + printable(text) + "\", expected seconds from 1 to 86400");
  }
  s.certificates = variable("CURL_CA_BUNDLE");
  if (s.certificates.empty()) s.certificates = variable("SSL_CERT_FILE");
  if (s.certificates.empty()) s.certificates = first_present(certificate_files());
  read_token(s, home, variable);
  return s;
}

HubSettings settings_of_process() {
  return read_settings([](const std::string& name) {
    const char* const value = std::getenv(name.c_str());
    if (!value && name == "HOME") return home_of_user();
    return std::string(value ? value : "");
  });
}

}  // namespace tril::hub
