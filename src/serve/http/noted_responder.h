// A response whose outcome is recorded: adds the headers of every response and, when it is over, reports its status, size
// and time.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>

#include "serve/http/http.h"

namespace tril::serve {

/// The outcome of a response.
struct Answered {
  int status = 500;       ///< 499: the client went away
  std::size_t bytes = 0;  ///< of its body
  double seconds = 0;     ///< from the request to its end
};

class NotedResponder : public Responder, public std::enable_shared_from_this<NotedResponder> {
 public:
  /// @param headers  of every response; the response's own headers override them
  /// @param on_end   called once, when the response is over or can no longer be given
  NotedResponder(std::shared_ptr<Responder> out, Headers headers, std::function<void(const Answered&)> on_end)
      : out_(std::move(out)), headers_(std::move(headers)), on_end_(std::move(on_end)) {}
  ~NotedResponder() override { end(); }

  void send(HttpResponse response) override;
  void begin(HttpResponse response) override;
  void write(std::string_view more) override;
  void finish() override;
  void on_gone(std::function<void()> f) override;

 private:
  void take(HttpResponse& response);
  void end();

  std::shared_ptr<Responder> out_;
  Headers headers_;
  std::function<void(const Answered&)> on_end_;
  std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
  std::atomic<int> status_ = 500;
  std::atomic<std::size_t> bytes_ = 0;
  std::atomic<bool> gone_ = false, ended_ = false;
};

}  // namespace tril::serve
