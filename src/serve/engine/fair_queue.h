// Who waits, and who is next: the highest priority; within it clients in turn, by deficit round robin over tokens
// [Shreedhar and Varghese 1995]: at each of its turns a client may spend a quantum more, and what it cannot spend since its
// next work is larger it keeps for the turn after. So each gets the same share of tokens, however much each has waiting
// in pieces of whatever size; within a client the first come is first.
//
// Not safe to use by several threads at once; its owner locks.
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

class FairQueue {
 public:
  /// @param most  works that may wait, of one client half of them
  FairQueue(std::size_t most, std::int64_t quantum);
  /// How many of one client may wait where `most` may in all.
  static std::size_t share_of_one(std::size_t most) { return std::max<std::size_t>(1, most / 2); }

  /// Takes all of one client's works, or, where there is no room for them, none.
  bool push(std::span<const WorkPtr> works);
  /// Whether it would take `n` works of this client.
  bool has_room(const std::string& client, std::size_t n) const;
  /// The next one, taken off; null where nobody waits, or where the next one keeps more than `most_tokens` (it stays the next).
  /// @param may  whether a client may have another one now; where not it is the next client's turn
  WorkPtr pop(std::int64_t most_tokens, const std::function<bool(const Work&)>& may = {});
  /// Takes off the works that are cancelled or late.
  std::vector<WorkPtr> take_gone(Clock::time_point now);
  std::vector<WorkPtr> take_all();

  /// Of those who wait; max() where nobody does.
  Clock::time_point first_arrival() const;
  std::size_t size() const { return size_; }
  /// Of this client.
  std::size_t size(const std::string& client) const;
  std::size_t clients() const;

 private:
  struct Client {
    std::string name;
    std::deque<WorkPtr> works;
    std::int64_t deficit = 0;
  };
  using Turns = std::list<Client>;  ///< whose turn it is comes first
  std::vector<WorkPtr> take_if(const std::function<bool(const Work&)>& gone);

  std::size_t most_;
  std::int64_t quantum_;
  std::size_t size_ = 0;
  std::map<int, Turns, std::greater<>> by_priority_;  ///< none of them empty
};

}  // namespace tril::serve
