#include "serve/api/usage.h"

#include <fmt/format.h>

#include <algorithm>

#include "serve/http/http_error.h"

namespace tril::serve {

void Usage::add(const std::string& account, std::int64_t characters) {
  const std::lock_guard lock(mutex_);
  characters_[account] += characters;
}

std::int64_t Usage::characters_of(const std::string& account) const {
  const std::lock_guard lock(mutex_);
  const auto found = characters_.find(account);
  return found == characters_.end() ? 0 : found->second;
}

void Usage::check(const std::string& account, std::optional<std::int64_t> most, std::int64_t more) const {
  if (!most) return;
  const std::int64_t used = characters_of(account);
  if (used + more > *most)
    throw HttpError(429, fmt::format("this key may have {} characters translated, of which {} are used; this request "
                                     "has {}",
                                     *most, used, more))
        .with_code("quota_exceeded");
}

std::int64_t characters_in(std::string_view text) {
  return std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; });
}

}  // namespace tril::serve
