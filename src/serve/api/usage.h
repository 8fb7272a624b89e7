// How many characters the holder of each key has had translated, kept in a file over restarts of the server.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

namespace tril::serve {

/// Thread-safe.
class Usage {
 public:
  /// @param file  has the counts as JSON, {"characters": {"OWNER": 1234}}, by terms::owner_of_key(). It is replaced as a whole, at most
  ///        every few seconds, and when the object ends: a kill loses the characters of the last seconds. "": counts begin at 0
  /// @throws Error for a file that cannot be read, or has another form
  explicit Usage(std::string file = {});
  ~Usage();
  Usage(const Usage&) = delete;
  Usage& operator=(const Usage&) = delete;

  /// @param account  Call::account(). Clients without a key are counted together
  void add(const std::string& account, std::int64_t characters);
  std::int64_t characters_of(const std::string& account) const;
  /// Refuses a request that would exceed a key's limit. Requests in progress are not counted yet.
  /// @param most  nothing: no limit
  /// @throws HttpError (429, "quota_exceeded")
  void check(const std::string& account, std::optional<std::int64_t> most, std::int64_t more) const;

 private:
  void read();
  void save_changes();

  const std::string file_;
  mutable std::mutex mutex_;
  std::map<std::string, std::int64_t> characters_;  ///< by account
  bool changed_ = false, ending_ = false;
  std::condition_variable wake_;
  std::thread saver_;
};

/// The number of characters (code points) of a text in UTF-8.
std::int64_t characters_in(std::string_view text);

}  // namespace tril::serve
