// How many requests each client has sent within the last minute, for a limit like LibreTranslate's --req-limit.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "serve/engine/work.h"

namespace tril::serve {

/// Counts by whole seconds, so a minute may begin up to a second late. Thread-safe.
class RequestRates {
 public:
  /// @param most_clients  whose counts are kept; the client that has not been seen for longest is forgotten first
  explicit RequestRates(std::size_t most_clients = 65'536) : most_clients_(most_clients) {}

  /// Counts a request, unless the client has sent `most` (at least 1) already.
  /// @return 0, or the number of seconds after which the client may send the next one
  int take(const std::string& client, std::int64_t most, Clock::time_point now);
  /// The same number, but nothing is counted.
  int wait_of(const std::string& client, std::int64_t most, Clock::time_point now) const;
  /// Counts more requests, even beyond the limit.
  void add(const std::string& client, std::int64_t requests, Clock::time_point now);
  std::size_t clients() const;

 private:
  static constexpr std::int64_t minute = 60;
  struct Counts {
    std::string client;
    std::int64_t last = 0;                         ///< the second of the newest count
    std::array<std::int64_t, minute> by_second{};  ///< of second s at s % minute, for the minute that ends with `last`
  };
  using Place = std::list<Counts>::iterator;

  static std::int64_t count_at(const Counts& counts, std::int64_t second);
  static int wait_of(const Counts& counts, std::int64_t most, std::int64_t now);
  static void add(Counts& counts, std::int64_t requests, std::int64_t now);
  Counts& counts_of(const std::string& client, std::int64_t now);

  const std::size_t most_clients_;
  mutable std::mutex mutex_;
  std::list<Counts> counts_;  ///< the client seen last is at the front
  std::unordered_map<std::string, Place> places_;
};

/// The name under which the requests from an address are counted. A machine with IPv6 has a whole network of addresses
/// (RFC 4291, 2.5.4), so their first 64 bits are the name.
std::string rate_name_of(std::string_view address);

}  // namespace tril::serve
