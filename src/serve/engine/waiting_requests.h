// Requests that wait until their model is loaded. Their number and the memory of their bodies are limited, and one client
// may have half of each.
//
// Not thread-safe: the owner locks.
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <list>
#include <string>
#include <utility>
#include <vector>

#include "serve/engine/served_model.h"

namespace tril::serve {

struct Waiter {
  std::string client;
  std::size_t bytes = 0;                                  ///< memory of the request
  Clock::time_point deadline = Clock::time_point::max();  ///< the request gets an error then
  bool admitted = false;                                  ///< it has waited before, and needs no room now
  /// Called once, outside of the server's threads, with the loaded model or with an error. Must not throw.
  std::function<void(ModelPtr, std::exception_ptr)> call = {};
};

class WaitingRequests {
 public:
  WaitingRequests(std::size_t most, std::size_t most_bytes) : most_(most), most_bytes_(most_bytes) {}

  /// True if there is room for a request of this client.
  bool has_room(const Waiter& waiter) const;
  /// Adds a request for a model, by the model's number.
  void add(std::size_t model, Waiter waiter) { list_.emplace_back(model, std::move(waiter)); }
  /// Removes and returns the requests for a model, in the order of their arrival.
  std::vector<Waiter> take(std::size_t model);
  /// Removes and returns those past their deadline.
  std::vector<Waiter> take_late(Clock::time_point now);
  std::vector<Waiter> take_all();

  std::size_t size() const { return list_.size(); }
  std::size_t size(std::size_t model) const;
  /// The earliest deadline; max() if there is none.
  Clock::time_point next_deadline() const;

 private:
  template <class Gone>
  std::vector<Waiter> take_if(const Gone& gone);

  std::size_t most_, most_bytes_;
  std::list<std::pair<std::size_t, Waiter>> list_;
};

}  // namespace tril::serve
