#include "serve/engine/waiting_requests.h"

#include <algorithm>

namespace tril::serve {

bool WaitingRequests::has_room(const Waiter& waiter) const {
  std::size_t own = 1, bytes = waiter.bytes, own_bytes = waiter.bytes;
  for (const auto& [model, other] : list_) {
    bytes += other.bytes;
    if (other.client != waiter.client) continue;
    ++own;
    own_bytes += other.bytes;
  }
  // A single request may have any size, which the server has limited.
  const auto fits = [](std::size_t n, std::size_t most, bool alone) { return alone || n <= most; };
  return list_.size() < most_ && own <= std::max<std::size_t>(1, most_ / 2) &&
         fits(bytes, most_bytes_, list_.empty()) && fits(own_bytes, most_bytes_ / 2, own == 1);
}

template <class Gone>
std::vector<Waiter> WaitingRequests::take_if(const Gone& gone) {
  std::vector<Waiter> taken;
  for (auto at = list_.begin(); at != list_.end();) {
    if (!gone(at->first, at->second)) {
      ++at;
      continue;
    }
    taken.push_back(std::move(at->second));
    at = list_.erase(at);
  }
  return taken;
}

std::vector<Waiter> WaitingRequests::take(std::size_t model) {
  return take_if([&](std::size_t of, const Waiter&) { return of == model; });
}

std::vector<Waiter> WaitingRequests::take_late(Clock::time_point now) {
  return take_if([&](std::size_t, const Waiter& w) { return w.deadline <= now; });
}

std::vector<Waiter> WaitingRequests::take_all() {
  return take_if([](std::size_t, const Waiter&) { return true; });
}

std::size_t WaitingRequests::size(std::size_t model) const {
  return static_cast<std::size_t>(
      std::count_if(list_.begin(), list_.end(), [&](const auto& one) { return one.first == model; }));
}

Clock::time_point WaitingRequests::next_deadline() const {
  auto next = Clock::time_point::max();
  for (const auto& [model, waiter] : list_) next = std::min(next, waiter.deadline);
  return next;
}

}  // namespace tril::serve
