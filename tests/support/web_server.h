// A web server for tests, on a port of the loopback that is free: what it answers is a function, and it can break off
// or dawdle.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace tril::test {

struct WebRequest {
  std::string method, path;
  std::map<std::string, std::string> headers;  ///< names in lower case

  std::string header(const std::string& name) const {
    const auto at = headers.find(name);
    return at == headers.end() ? "" : at->second;
  }
};

struct WebReply {
  int status = 200;
  std::map<std::string, std::string> headers = {};
  std::string body = {};
  std::size_t cut_after = std::string::npos;  ///< bytes of the body, after which the connection is closed
  double pause = 0;                           ///< seconds after each 16 KiB of the body
};

class WebServer {
 public:
  using Answer = std::function<WebReply(const WebRequest&)>;

  /// @param answer  called by several threads at once
  explicit WebServer(Answer answer) : answer_(std::move(answer)), listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(at);
    if (::bind(listener_, reinterpret_cast<sockaddr*>(&at), size) != 0 || ::listen(listener_, 64) != 0 ||
        ::getsockname(listener_, reinterpret_cast<sockaddr*>(&at), &size) != 0)
      throw std::runtime_error("no port");
    port_ = ntohs(at.sin_port);
    acceptor_ = std::thread([this] { accept_all(); });
  }
  ~WebServer() {
    ending_ = true;
    ::shutdown(listener_, SHUT_RDWR);
    acceptor_.join();
    ::close(listener_);
    {
      const std::lock_guard hold(mutex_);
      for (const int s : open_) ::shutdown(s, SHUT_RDWR);
    }
    for (std::thread& t : threads_) t.join();
  }
  WebServer(const WebServer&) = delete;
  WebServer& operator=(const WebServer&) = delete;

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  /// All requests so far.
  std::vector<WebRequest> requests() const {
    const std::lock_guard hold(mutex_);
    return requests_;
  }

 private:
  void accept_all() {
    while (!ending_) {
      const int s = ::accept(listener_, nullptr, nullptr);
      if (s < 0) return;
      const std::lock_guard hold(mutex_);
      open_.push_back(s);
      threads_.emplace_back([this, s] {
        serve(s);
        const std::lock_guard again(mutex_);
        open_.remove(s);
        ::close(s);
      });
    }
  }

  static bool send_all(int s, const std::string& bytes) {
    for (std::size_t sent = 0; sent < bytes.size();) {
      const ssize_t n = ::send(s, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (n <= 0) return false;
      sent += static_cast<std::size_t>(n);
    }
    return true;
  }

  static bool send_reply(int s, const WebReply& reply) {
    std::string head = "HTTP/1.1 " + std::to_string(reply.status) + " x\r\n";
    for (const auto& [name, value] : reply.headers) head += name + ": " + value + "\r\n";
    if (!reply.headers.contains("Content-Length"))
      head += "Content-Length: " + std::to_string(reply.body.size()) + "\r\n";
    if (!send_all(s, head + "\r\n")) return false;
    constexpr std::size_t piece = 16 << 10;
    const std::string body = reply.body.substr(0, reply.cut_after);
    for (std::size_t at = 0; at < body.size(); at += piece) {
      if (!send_all(s, body.substr(at, piece))) return false;
      if (reply.pause > 0) std::this_thread::sleep_for(std::chrono::duration<double>(reply.pause));
    }
    return reply.cut_after >= reply.body.size();
  }

  void serve(int s) {
    std::string read;
    for (;;) {
      std::size_t end = 0;
      while ((end = read.find("\r\n\r\n")) == std::string::npos) {
        char buffer[4096];
        const ssize_t n = ::recv(s, buffer, sizeof(buffer), 0);
        if (n <= 0) return;
        read.append(buffer, static_cast<std::size_t>(n));
      }
      const WebRequest request = parsed(read.substr(0, end + 2));
      read.erase(0, end + 4);
      {
        const std::lock_guard hold(mutex_);
        requests_.push_back(request);
      }
      if (!send_reply(s, answer_(request))) {
        ::shutdown(s, SHUT_RDWR);
        return;
      }
    }
  }

  static WebRequest parsed(const std::string& head) {
    WebRequest r;
    std::size_t at = head.find("\r\n") + 2;
    const std::size_t first = head.find(' '), second = head.find(' ', first + 1);
    r.method = head.substr(0, first);
    r.path = head.substr(first + 1, second - first - 1);
    while (at < head.size()) {
      const std::size_t end = head.find("\r\n", at), colon = head.find(": ", at);
      std::string name = head.substr(at, colon - at);
      std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
      r.headers[name] = head.substr(colon + 2, end - colon - 2);
      at = end + 2;
    }
    return r;
  }

  Answer answer_;
  int listener_;
  std::uint16_t port_ = 0;
  std::atomic<bool> ending_ = false;
  mutable std::mutex mutex_;
  std::vector<WebRequest> requests_;
  std::list<int> open_;
  std::list<std::thread> threads_;
  std::thread acceptor_;
};

}  // namespace tril::test
