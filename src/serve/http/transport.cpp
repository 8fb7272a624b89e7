#include "serve/http/transport.h"

#include <boost/asio/ssl.hpp>

#include "base/error.h"

namespace tril::serve {
namespace {

namespace net = boost::asio;

class Plain : public Transport {
 public:
  explicit Plain(Socket socket) : socket_(std::move(socket)) {}
  Socket& socket() override { return socket_; }
  void handshake(OnDone f) override { f({}); }
  void read_some(net::mutable_buffer buffer, OnBytes f) override { socket_.async_read_some(buffer, std::move(f)); }
  void write_some(net::const_buffer buffer, OnBytes f) override { socket_.async_write_some(buffer, std::move(f)); }
  bool secure() const override { return false; }
  void end_sending(OnDone f) override {
    ErrorCode error;
    socket_.shutdown(Socket::shutdown_send, error);
    f(error);
  }

 private:
  Socket socket_;
};

class Tls : public Transport {
 public:
  Tls(Socket socket, std::shared_ptr<TlsContext> context)
      : context_(std::move(context)), stream_(std::move(socket), *context_) {}
  Socket& socket() override { return stream_.next_layer(); }
  void handshake(OnDone f) override { stream_.async_handshake(net::ssl::stream_base::server, std::move(f)); }
  void read_some(net::mutable_buffer buffer, OnBytes f) override { stream_.async_read_some(buffer, std::move(f)); }
  void write_some(net::const_buffer buffer, OnBytes f) override { stream_.async_write_some(buffer, std::move(f)); }
  bool secure() const override { return true; }
  // Sends close_notify, without which a client takes the end for a broken connection (RFC 8446, 6.1).
  void end_sending(OnDone f) override { stream_.async_shutdown(std::move(f)); }

 private:
  std::shared_ptr<TlsContext> context_;  // kept alive for the stream, even if the server replaces its own
  net::ssl::stream<Socket> stream_;
};

}  // namespace

std::shared_ptr<TlsContext> tls_context(const std::string& certificate_file, const std::string& key_file) {
  if (certificate_file.empty() && key_file.empty()) return nullptr;
  if (certificate_file.empty() || key_file.empty())
    fail_usage("TLS", "needs a certificate and its key, but one of them is missing", "pass both files");
  auto context = std::make_shared<TlsContext>(TlsContext::tls_server);
  context->set_options(TlsContext::default_workarounds | TlsContext::no_sslv2 | TlsContext::no_sslv3 |
                       TlsContext::no_tlsv1 | TlsContext::no_tlsv1_1);
  Transport::ErrorCode error;
  context->use_certificate_chain_file(certificate_file, error);
  if (error) fail(certificate_file, "is not a PEM certificate chain: " + error.message());
  context->use_private_key_file(key_file, TlsContext::pem, error);
  if (error) fail(key_file, "is not a PEM private key that matches the certificate: " + error.message());
  return context;
}

std::unique_ptr<Transport> make_transport(Socket socket, std::shared_ptr<TlsContext> tls) {
  if (tls) return std::make_unique<Tls>(std::move(socket), std::move(tls));
  return std::make_unique<Plain>(std::move(socket));
}

}  // namespace tril::serve
