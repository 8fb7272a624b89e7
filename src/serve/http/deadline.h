// A time by which something must have happened on a connection.
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

namespace tril::serve {

/// All calls are made in the strand of the timer.
class Deadline {
 public:
  explicit Deadline(const boost::asio::any_io_executor& strand) : timer_(strand) {}

  /// Calls f after this time, unless the deadline is set anew or cleared before. @param owner  f is not called after its end
  void set(double seconds, const std::weak_ptr<void>& owner, std::function<void()> f) {
    using std::chrono::duration, std::chrono::duration_cast, std::chrono::milliseconds;
    timer_.expires_after(duration_cast<milliseconds>(duration<double>(seconds)));
    timer_.async_wait([this, owner, number = ++number_, f = std::move(f)](const boost::system::error_code& error) {
      const auto alive = owner.lock();
      if (!error && alive && number_ == number) f();
    });
  }
  void clear() {
    ++number_;
    timer_.cancel();
  }

 private:
  boost::asio::steady_timer timer_;
  std::uint64_t number_ = 0;  ///< of the latest call: an older one may be on its way already
};

}  // namespace tril::serve
