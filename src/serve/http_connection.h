// One client's connection: its requests are read and answered one after the other, within the times and sizes that the
// server's options allow (http_server.h).
#pragma once

#include <memory>

#include "serve/http_host.h"
#include "serve/transport.h"

namespace tril::serve {

class HttpConnection {
 public:
  virtual ~HttpConnection() = default;
  virtual void start() = 0;
  /// Closes it if no request has begun to come.
  virtual void close_if_idle() = 0;
  /// The same also if one has begun to come, but is not there as a whole.
  virtual void close_if_waiting() = 0;
  virtual void close_now() = 0;
  virtual bool is_idle() const = 0;
  virtual bool is_reading() const = 0;
};

/// One that is among the server's until it is gone.
std::shared_ptr<HttpConnection> make_connection(std::shared_ptr<HttpHost> server, std::unique_ptr<Transport> transport);

}  // namespace tril::serve
