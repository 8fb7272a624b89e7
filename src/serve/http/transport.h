// A socket to a client, with or without TLS. Nothing here blocks: operations call back when done.
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
  /// The exchange before the first byte of either side.
  virtual void handshake(OnDone f) = 0;
  virtual void read_some(boost::asio::mutable_buffer buffer, OnBytes f) = 0;
  virtual void write_some(boost::asio::const_buffer buffer, OnBytes f) = 0;
  virtual bool secure() const = 0;
  /// Declares that no more is sent. No write is in progress. @param f  must keep the transport alive
  virtual void end_sending(OnDone f) = 0;
};

/// A server's certificate and key, in PEM; null if neither is given. TLS 1.2 or later.
/// @throws Error if one is missing or invalid
std::shared_ptr<TlsContext> tls_context(const std::string& certificate_file, const std::string& key_file);

/// @param tls  null: no TLS
std::unique_ptr<Transport> make_transport(Socket socket, std::shared_ptr<TlsContext> tls);

}  // namespace tril::serve
