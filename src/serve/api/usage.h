// How many characters the holder of each key has had translated since the server started.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace tril::serve {

class Usage {
 public:
  /// @param account  Call::account(). Clients without a key are counted together
  void add(const std::string& account, std::int64_t characters);
  std::int64_t characters_of(const std::string& account) const;
  /// Refuses a request that would exceed a key's limit. Requests in progress are not counted yet.
  /// @param most  nothing: no limit
  /// @throws HttpError (429, "quota_exceeded")
  void check(const std::string& account, std::optional<std::int64_t> most, std::int64_t more) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::int64_t> characters_;  ///< by account
};

/// The number of characters (code points) of a text in UTF-8.
std::int64_t characters_in(std::string_view text);

}  // namespace tril::serve
