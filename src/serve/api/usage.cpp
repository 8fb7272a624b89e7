#include "serve/api/usage.h"

#include <algorithm>

namespace tril::serve {
namespace {

std::string key_name(const std::string& client) {
  return client.starts_with("key-") || client.starts_with("admin-key-") ? client : "";
}

}  // namespace

void Usage::add(const std::string& client, std::int64_t characters) {
  const std::lock_guard lock(mutex_);
  characters_[key_name(client)] += characters;
}

std::int64_t Usage::characters_of(const std::string& client) const {
  const std::lock_guard lock(mutex_);
  const auto found = characters_.find(key_name(client));
  return found == characters_.end() ? 0 : found->second;
}

std::int64_t characters_in(std::string_view text) {
  return std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; });
}

}  // namespace tril::serve
