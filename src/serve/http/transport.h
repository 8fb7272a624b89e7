// A socket to a client, with TLS or without. Nothing here waits: what is begun tells when it is done.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <functional>
#include <memory>
#include <string>

namespace tril::serve {

using Socket = boost::asio::ip::tcp::socket;
using TlsContext = boost::asio::ssl::context;

class Transport {
 public:
  using ErrorCode = boost::system::error_code;
  using OnDone = std::function<void(ErrorCode)>;
  using OnBytes = std::function<void(ErrorCode, std::size_t)>;

  virtual ~Transport() = default;
  virtual Socket& socket() = 0;
  /// What comes before the first byte of either side.
  virtual void handshake(OnDone f) = 0;
  virtual void read_some(boost::asio::mutable_buffer buffer, OnBytes f) = 0;
  virtual void write_some(boost::asio::const_buffer buffer, OnBytes f) = 0;
  virtual bool secure() const = 0;
  /// Says that no more is sent.
  void end_sending();
};

/// Certificate and key of a server, in PEM; null where neither is named. TLS 1.2 or later.
/// @throws Error where one of them is missing or no good
std::shared_ptr<TlsContext> tls_context(const std::string& certificate_file, const std::string& key_file);

/// @param tls  null: without
std::unique_ptr<Transport> make_transport(Socket socket, std::shared_ptr<TlsContext> tls);

}  // namespace tril::serve
