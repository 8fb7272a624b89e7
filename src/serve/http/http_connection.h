// A client's connection: reads and answers its requests one after the other, within the server's limits of time and
// size (http_server.h).
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
  /// Closes it if no request has begun to arrive, as far as has been read.
  virtual void close_if_idle() = 0;
  virtual void close_now() = 0;

  /// The state of its request: `idle` without one, `reading` if one has begun to arrive but is incomplete.
  enum class Phase : std::uint8_t { idle, reading, other };
  virtual Phase phase() const = 0;
  /// When a request last began to arrive.
  virtual std::chrono::steady_clock::time_point begun() const = 0;
  /// Closes it if it is in this phase, and reports whether it did; an idle one to which a byte has arrived, read or not, stays.
  virtual void give_place(Phase phase, std::function<void(bool closed)> tell) = 0;
};

/// A connection that is registered with the server until it ends.
std::shared_ptr<HttpConnection> make_connection(const std::shared_ptr<HttpHost>& server,
                                                std::unique_ptr<Transport> transport);

}  // namespace tril::serve
