// How many requests each client has sent within the last minute, hour and day, for limits like LibreTranslate's --req-limit.
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

/// How many requests a client may send in a span of time; 0: any number.
struct RequestLimits {
  std::int64_t per_minute = 0, per_hour = 0, per_day = 0;

  bool any() const { return per_minute > 0 || per_hour > 0 || per_day > 0; }
};

/// Why a client has to wait.
struct RateWait {
  int seconds = 0;        ///< until it may send the next request; 0: it may send one now
  std::int64_t most = 0;  ///< the limit that is reached
  std::string_view span;  ///< "minute", "hour" or "day"
};

/// Counts requests by sixtieths of each span, so a minute may begin up to a second late, an hour a minute, a day 24 minutes.
/// Thread-safe.
class RequestRates {
 public:
  /// @param most_clients  whose counts are kept; the client that has not been seen for longest is forgotten first
  explicit RequestRates(std::size_t most_clients = 65'536) : most_clients_(most_clients) {}

  /// Counts a request, unless the client has sent as many as it may.
  RateWait take(const std::string& client, const RequestLimits& limits, Clock::time_point now);
  /// The same result, but nothing is counted.
  RateWait wait_of(const std::string& client, const RequestLimits& limits, Clock::time_point now) const;
  /// Counts more requests, even beyond the limits.
  void add(const std::string& client, std::int64_t requests, Clock::time_point now);
  std::size_t clients() const;

 private:
  /// The counts of one span of time.
  class Window {
   public:
    /// @param part_seconds  the length of a part, a sixtieth of the span: 1 for a minute
    explicit Window(std::int64_t part_seconds) : part_seconds_(part_seconds) {}
    /// @return after how many seconds the client may send the next request, if it may send `most` in the span
    int wait_of(std::int64_t most, std::int64_t second) const;
    void add(std::int64_t requests, std::int64_t second);

   private:
    static constexpr std::int64_t parts = 60;

    std::int64_t count_at(std::int64_t part) const;

    std::int64_t part_seconds_;
    std::int64_t last_ = 0;                          ///< the part of the newest count
    std::array<std::uint32_t, parts> by_part_ = {};  ///< of part p at p % parts, for the span that ends with `last_`
  };
  struct Counts {
    std::string client;
    Window minute{1}, hour{60}, day{1440};
  };
  using Place = std::list<Counts>::iterator;

  static RateWait wait_of(const Counts& counts, const RequestLimits& limits, std::int64_t second);
  static void add(Counts& counts, std::int64_t requests, std::int64_t second);
  Counts& counts_of(const std::string& client);

  const std::size_t most_clients_;
  mutable std::mutex mutex_;
  std::list<Counts> counts_;  ///< the client seen last is at the front
  std::unordered_map<std::string, Place> places_;
};

/// The name under which the requests from an address are counted. A machine with IPv6 has a whole network of addresses
/// (RFC 4291, 2.5.4), so their first 64 bits are the name.
std::string rate_name_of(std::string_view address);

}  // namespace tril::serve
