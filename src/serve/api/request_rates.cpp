#include "serve/api/request_rates.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>

#include <algorithm>
#include <chrono>
#include <limits>

#include "base/as_size.h"

namespace tril::serve {
namespace {

std::int64_t second_of(Clock::time_point time) {
  return std::chrono::floor<std::chrono::seconds>(time.time_since_epoch()).count();
}

}  // namespace

std::int64_t RequestRates::Window::count_at(std::int64_t part) const {
  return part >= 0 && part > last_ - parts && part <= last_ ? by_part_[as_size(part % parts)] : 0;
}

int RequestRates::Window::wait_of(std::int64_t most, std::int64_t second) const {
  const std::int64_t now = second / part_seconds_;
  std::int64_t sent = 0;
  for (std::int64_t p = now - parts + 1; p <= now; ++p) sent += count_at(p);
  // Part by part, the oldest requests leave the span.
  std::int64_t waited = 0;
  for (; sent >= most && waited < parts; ++waited) sent -= count_at(now - parts + 1 + waited);
  return waited == 0 ? 0 : static_cast<int>((now + waited) * part_seconds_ - second);
}

void RequestRates::Window::add(std::int64_t requests, std::int64_t second) {
  const std::int64_t now = second / part_seconds_;
  for (std::int64_t p = std::max(last_ + 1, now - parts + 1); p <= now; ++p) by_part_[as_size(p % parts)] = 0;
  last_ = std::max(last_, now);  // another thread may have counted a later request already
  std::uint32_t& count = by_part_[as_size(last_ % parts)];
  constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max();
  count = static_cast<std::uint32_t>(std::min(most, count + std::min(most, requests)));
}

RateWait RequestRates::wait_of(const Counts& counts, const RequestLimits& limits, std::int64_t second) {
  RateWait longest;
  const auto look_at = [&](const Window& window, std::int64_t most, std::string_view span) {
    if (most <= 0) return;
    if (const int wait = window.wait_of(most, second); wait > longest.seconds)
      longest = {.seconds = wait, .most = most, .span = span};
  };
  look_at(counts.minute, limits.per_minute, "minute");
  look_at(counts.hour, limits.per_hour, "hour");
  look_at(counts.day, limits.per_day, "day");
  return longest;
}

void RequestRates::add(Counts& counts, std::int64_t requests, std::int64_t second) {
  for (Window* const window : {&counts.minute, &counts.hour, &counts.day}) window->add(requests, second);
}

RequestRates::Counts& RequestRates::counts_of(const std::string& client) {
  if (const auto found = places_.find(client); found != places_.end()) {
    counts_.splice(counts_.begin(), counts_, found->second);
    return counts_.front();
  }
  if (counts_.size() == most_clients_) {
    places_.erase(counts_.back().client);
    counts_.pop_back();
  }
  counts_.push_front({.client = client});
  places_.emplace(client, counts_.begin());
  return counts_.front();
}

RateWait RequestRates::take(const std::string& client, const RequestLimits& limits, Clock::time_point now) {
  const std::int64_t second = second_of(now);
  const std::lock_guard lock(mutex_);
  Counts& counts = counts_of(client);
  const RateWait wait = wait_of(counts, limits, second);
  if (wait.seconds == 0) add(counts, 1, second);
  return wait;
}

RateWait RequestRates::wait_of(const std::string& client, const RequestLimits& limits, Clock::time_point now) const {
  const std::lock_guard lock(mutex_);
  const auto found = places_.find(client);
  return found == places_.end() ? RateWait() : wait_of(*found->second, limits, second_of(now));
}

void RequestRates::add(const std::string& client, std::int64_t requests, Clock::time_point now) {
  const std::int64_t second = second_of(now);
  const std::lock_guard lock(mutex_);
  add(counts_of(client), requests, second);
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
