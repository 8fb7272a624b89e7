// One client's connection: its requests are read and answered one after the other, within the times and sizes that the
// server's options allow (http_server.h).
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "serve/http/http_host.h"
#include "serve/http/transport.h"

namespace tril::serve {

class HttpConnection {
 public:
  virtual ~HttpConnection() = default;
  virtual void start() = 0;
  /// Closes it if no request has begun to come, as far as was read.
  virtual void close_if_idle() = 0;
  virtual void close_now() = 0;

  /// Where its request stands: `idle` without one, `reading` one that has begun to come and is not there as a whole.
  enum class Phase : std::uint8_t { idle, reading, other };
  virtual Phase phase() const = 0;
  /// When a request last began to come.
  virtual std::chrono::steady_clock::time_point begun() const = 0;
  /// Closes it if it is in this phase, and says whether it did; an idle one to which a byte has come, read or not, stays.
  virtual void give_place(Phase phase, std::function<void(bool closed)> tell) = 0;
};

/// One that is among the server's until it is gone.
std::shared_ptr<HttpConnection> make_connection(std::shared_ptr<HttpHost> server, std::unique_ptr<Transport> transport);

}  // namespace tril::serve
