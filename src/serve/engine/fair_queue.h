// The queue of waiting works. The highest priority comes first. Clients of one priority take turns by deficit round robin
// over tokens [Shreedhar and Varghese 1995]: each turn adds a quantum to a client's balance, and its next work starts when
// the balance covers the work's cost; the rest of the balance is kept. So every client gets the same share of tokens,
// regardless of the number and the size of its works. The works of one client stay in order.
//
// Not thread-safe: the owner locks.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "serve/engine/work.h"

namespace tril::serve {

/// Whether works need room in the queue, or were admitted before: they belong to a request that has waited for its model.
enum class Admission : std::uint8_t { asked, given };

class FairQueue {
 public:
  /// @param most     maximum number of waiting works; one client may have half of them
  /// @param quantum  tokens
  FairQueue(std::size_t most, std::int64_t quantum);
  /// The maximum number of waiting works of one client.
  static std::size_t share_of_one(std::size_t most) { return std::max<std::size_t>(1, most / 2); }

  /// Takes all of these works, which belong to one client; if there is no room for all, none. @return whether it took them
  bool push(std::span<const WorkPtr> works, Admission admission = Admission::asked);
  /// True if there is room for `n` works of this client.
  bool has_room(const std::string& client, std::size_t n) const;
  /// Removes and returns the next work; null if there is none, or if it needs more than `most_tokens` of the cache (then it
  /// stays the next).
  /// @param may  false for a work that must not start now: then it is the next client's turn
  WorkPtr pop(std::int64_t most_tokens, const std::function<bool(const Work&)>& may = {});
  /// Removes the works that are cancelled or past their deadline.
  std::vector<WorkPtr> take_gone(Clock::time_point now);
  std::vector<WorkPtr> take_all();

  /// The arrival of the work that has waited longest; max() if the queue is empty.
  Clock::time_point first_arrival() const;
  std::size_t size() const { return size_; }
  /// The number of waiting works of this client.
  std::size_t size(const std::string& client) const;
  std::size_t clients() const;

 private:
  struct Client {
    std::string name;
    std::deque<WorkPtr> works;
    std::int64_t deficit = 0;
  };
  using Turns = std::list<Client>;  ///< in the order of their turns
  std::vector<WorkPtr> take_if(const std::function<bool(const Work&)>& gone);

  std::size_t most_;
  std::int64_t quantum_;
  std::size_t size_ = 0;
  std::map<int, Turns, std::greater<>> by_priority_;  ///< no list is empty
};

}  // namespace tril::serve
