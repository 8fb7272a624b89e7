// The bytes that a connection sends: those of the write in progress, and those that wait for the next.
#pragma once

#include <boost/asio/buffer.hpp>
#include <cstddef>
#include <string>
#include <string_view>

namespace tril::serve {

class SendQueue {
 public:
  void add(std::string_view bytes) { waiting_ += bytes; }
  /// Bytes that have not been sent.
  std::size_t size() const { return waiting_.size() + in_flight_.size() - sent_; }
  bool is_sending() const { return !in_flight_.empty(); }

  /// Puts all that waits into a write. @return false if there is nothing, or a write is in progress
  bool begin() {
    if (is_sending() || waiting_.empty()) return false;
    in_flight_.swap(waiting_);
    return true;
  }
  /// What the write has not sent. The bytes keep their place until it ends.
  boost::asio::const_buffer rest() const { return {in_flight_.data() + sent_, in_flight_.size() - sent_}; }
  /// @return whether the write has ended
  bool has_sent(std::size_t bytes) {
    sent_ += bytes;
    if (sent_ < in_flight_.size()) return false;
    in_flight_.clear();
    sent_ = 0;
    return true;
  }

 private:
  std::string waiting_, in_flight_;
  std::size_t sent_ = 0;  ///< of in_flight_
};

}  // namespace tril::serve
