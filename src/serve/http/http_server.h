// HTTP/1.1 for many clients with few threads: nothing here blocks on a client. Limits for clients that are slow, send
// too much or stay too long:
//   * a request's head must arrive within head_seconds of its first byte, its body within body_seconds more;
//   * a connection without a request is closed after idle_seconds, sooner if others need its place;
//   * an answer is aborted if the client takes none of it for write_seconds, or if more than most_unsent bytes of a stream
//     are waiting;
//   * heads and bodies have maximum sizes, connections a maximum number. Some addresses take larger bodies, such as files; the
//     size of all larger bodies together is limited too.
// The read side of a connection is watched during an answer, so that a client's departure is noticed at once.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "serve/http/http.h"
#include "serve/http/trusted_proxies.h"

namespace tril::serve {

/// Whether an upload is refused before all of it has arrived.
enum class UploadJudgement : std::uint8_t { take, refuse, undecided };

struct HttpServerOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 8080;  ///< 0: any free port
  int threads = 2;
  TrustedProxies trusted_proxies = {};     ///< which may name the client that they ask for: HttpRequest::address
  std::string certificate_file, key_file;  ///< PEM; with both, only TLS 1.2 or later is accepted

  std::size_t most_connections = 1024;
  std::size_t most_head_bytes = std::size_t{16} << 10;
  std::size_t most_body_bytes = std::size_t{4} << 20;
  /// True if an address (its path, as it was sent) takes bodies of up to upload_bytes. Unset: no address does.
  std::function<bool(std::string_view path)> takes_uploads = {};
  std::size_t upload_bytes = 0;
  /// Judges a request for such an address by its head and the part of its body that has arrived, at first perhaps none. A refused
  /// request is handled at once, with that part. While undecided, it is asked again each time that the part has doubled, up to 80 KiB.
  /// Unset: no request is refused.
  std::function<UploadJudgement(const HttpRequest& arrived)> judge_upload = {};
  /// The body of an error that the server answers by itself (a large body, a slow one), as JSON. @param path  as it was sent; "":
  /// unknown. Unset: {"error": {"message", "type"}}.
  std::function<std::string(std::string_view path, int status, const std::string& message)> refusal = {};
  /// Maximum size of all bodies above most_body_bytes together, from their heads to the ends of their answers.
  std::size_t most_upload_bytes = std::size_t{256} << 20;
  std::size_t most_unsent_bytes = std::size_t{1} << 20;  ///< of a stream
  double head_seconds = 10, body_seconds = 30, idle_seconds = 75, write_seconds = 30;
  double upload_seconds = 300;  ///< of a body above most_body_bytes

  /// True if new requests have to wait anyway. Then each thread polls its sockets only about a hundred times a second,
  /// since each poll takes a core away from decoding. Unset: never.
  std::function<bool()> crowded = {};
};

class HttpServer {
 public:
  /// Listens, and calls `handler` from its threads for each request; the handler must not block for long.
  /// @throws Error if the address cannot be listened on, or the certificate is invalid
  HttpServer(const HttpServerOptions& options, Handler handler);
  /// Closes all connections.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  std::uint16_t port() const;
  std::size_t connections() const;
  /// Accepts no more connections, and ends each existing one after its current answer.
  void drain();
  /// @throws Error for a certificate that is invalid, as the constructor does
  static void check_certificate(const std::string& certificate_file, const std::string& key_file);
  /// Reads certificate and key again, for new connections; if they are invalid, the old ones stay.
  /// @throws Error naming the fault
  void reload_certificate();

 private:
  class Implementation;
  std::shared_ptr<Implementation> implementation_;
};

}  // namespace tril::serve
