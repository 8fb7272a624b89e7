#include "serve/api/request_rates.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>

#include <algorithm>
#include <chrono>

#include "base/as_size.h"

namespace tril::serve {
namespace {

std::int64_t second_of(Clock::time_point time) {
  return std::chrono::floor<std::chrono::seconds>(time.time_since_epoch()).count();
}

}  // namespace

std::int64_t RequestRates::count_at(const Counts& counts, std::int64_t second) {
  return second >= 0 && second > counts.last - minute && second <= counts.last
             ? counts.by_second[as_size(second % minute)]
             : 0;
}

int RequestRates::wait_of(const Counts& counts, std::int64_t most, std::int64_t now) {
  std::int64_t sent = 0;
  for (std::int64_t s = now - minute + 1; s <= now; ++s) sent += count_at(counts, s);
  // Second by second, the oldest requests leave the minute.
  int wait = 0;
  for (; sent >= most && wait < minute; ++wait) sent -= count_at(counts, now - minute + 1 + wait);
  return wait;
}

void RequestRates::add(Counts& counts, std::int64_t requests, std::int64_t now) {
  for (std::int64_t s = std::max(counts.last + 1, now - minute + 1); s <= now; ++s)
    counts.by_second[as_size(s % minute)] = 0;
  counts.last = std::max(counts.last, now);  // another thread may have counted a later request already
  counts.by_second[as_size(counts.last % minute)] += requests;
}

RequestRates::Counts& RequestRates::counts_of(const std::string& client, std::int64_t now) {
  if (const auto found = places_.find(client); found != places_.end()) {
    counts_.splice(counts_.begin(), counts_, found->second);
    return counts_.front();
  }
  if (counts_.size() == most_clients_) {
    places_.erase(counts_.back().client);
    counts_.pop_back();
  }
  counts_.push_front({.client = client, .last = now});
  places_.emplace(client, counts_.begin());
  return counts_.front();
}

int RequestRates::take(const std::string& client, std::int64_t most, Clock::time_point now) {
  const std::int64_t second = second_of(now);
  const std::lock_guard lock(mutex_);
  Counts& counts = counts_of(client, second);
  const int wait = wait_of(counts, most, second);
  if (wait == 0) add(counts, 1, second);
  return wait;
}

int RequestRates::wait_of(const std::string& client, std::int64_t most, Clock::time_point now) const {
  const std::lock_guard lock(mutex_);
  const auto found = places_.find(client);
  return found == places_.end() ? 0 : wait_of(*found->second, most, second_of(now));
}

void RequestRates::add(const std::string& client, std::int64_t requests, Clock::time_point now) {
  const std::int64_t second = second_of(now);
  const std::lock_guard lock(mutex_);
  add(counts_of(client, second), requests, second);
}

std::size_t RequestRates::clients() const {
  const std::lock_guard lock(mutex_);
  return counts_.size();
}

std::string rate_name_of(std::string_view address) {
  std::string text(address.substr(0, address.find('%')));  // "fe80::1%eth0"
  in6_addr bytes{};
  if (inet_pton(AF_INET6, text.c_str(), &bytes) != 1) return text;
  const auto& b = bytes.s6_addr;
  const bool is_ipv4 = IN6_IS_ADDR_V4MAPPED(&bytes);  // "::ffff:192.0.2.1"
  if (is_ipv4) return fmt::format("{}.{}.{}.{}", b[12], b[13], b[14], b[15]);
  std::string name;
  for (int i = 0; i < 8; ++i) name += fmt::format("{:02x}", b[i]);
  return name + "/64";
}

}  // namespace tril::serve
