// HTTP/1.1 for many clients by a few threads: nothing here waits for one of them. Whoever is too slow, says too much or
// stays too long is sent away:
//   * a request's head must have come within head_seconds of its first byte, its body within body_seconds more;
//   * a connection without a request is closed after idle_seconds, sooner where others need its place;
//   * an answer of which nothing is taken for write_seconds, or of which more than most_unsent bytes of a stream are
//     waiting to be taken, is given up;
//   * heads and bodies have their greatest sizes, connections their greatest number.
// The reading side of a connection is watched while it is answered, so that a client that goes away is noticed at once.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "serve/http/http.h"

namespace tril::serve {

struct HttpServerOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 8080;  ///< 0: any that is free
  int threads = 2;
  std::string certificate_file, key_file;  ///< PEM; with both, TLS 1.2 or later and nothing else is spoken

  std::size_t most_connections = 1024;
  std::size_t most_head_bytes = 16 * 1024;
  std::size_t most_body_bytes = std::size_t{4} << 20;
  std::size_t most_unsent_bytes = std::size_t{1} << 20;  ///< of a stream
  double head_seconds = 10, body_seconds = 30, idle_seconds = 75, write_seconds = 30;

  /// Whether who comes now has to wait anyway. While it says so, each thread looks at sockets some hundred times a second
  /// only, for all that came meanwhile: each look takes a core from those who work on answers. Unset: never.
  std::function<bool()> crowded = {};
};

class HttpServer {
 public:
  /// Listens, and calls `handler` from its threads for each request; it must not wait for anything long.
  /// @throws Error where the address cannot be listened on, or the certificate is none
  HttpServer(const HttpServerOptions& options, Handler handler);
  /// Closes all connections.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  std::uint16_t port() const;
  std::size_t connections() const;
  /// Takes no more connections, and ends each that is there when its request is answered.
  void drain();
  /// Reads certificate and key again, for connections from now on; where they are no good the old ones stay.
  /// @throws Error saying what is wrong with them
  void reload_certificate();

 private:
  class Implementation;
  std::shared_ptr<Implementation> implementation_;
};

}  // namespace tril::serve
