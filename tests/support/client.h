// An HTTP client that behaves well, or badly on demand: a raw socket and what is sent and received.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>

namespace tril::serve::testing {

struct Answer {
  int status = 0;
  std::map<std::string, std::string> headers;  ///< names in lower case
  std::string body;
};

class Client {
 public:
  explicit Client(std::uint16_t port, int receive_buffer = 0) : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    if (receive_buffer > 0) setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof(receive_buffer));
    const timeval longest_send{60, 0};  // a server that reads nothing fails the test instead of blocking it
    setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &longest_send, sizeof(longest_send));
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
    // A fuzzer uses alarms, and makes connections faster than the system frees their ports.
    for (int tries = 0; connect(socket_, reinterpret_cast<sockaddr*>(&to), sizeof(to)) != 0 && errno != EISCONN;
         ++tries) {
      if ((errno != EINTR && errno != EALREADY && errno != EADDRNOTAVAIL) || tries == 1000)
        throw std::runtime_error(std::string("no connection: ") + std::strerror(errno));
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  }
  ~Client() { close(); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  void close() {
    if (socket_ >= 0) ::close(socket_);
    socket_ = -1;
  }
  /// Whether all of it was taken.
  bool send(const std::string& bytes) {
    sent_ = bytes.substr(0, 300);
    std::size_t sent = 0;
    while (sent < bytes.size()) {
      const ssize_t n = ::send(socket_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (n <= 0) return false;
      sent += static_cast<std::size_t>(n);
    }
    return true;
  }
  /// Declares that no more will be sent.
  void end_sending() { ::shutdown(socket_, SHUT_WR); }
  /// Receives more bytes; "" at the end. @throws std::runtime_error after this many seconds without any
  std::string receive(double seconds = 60) {
    pollfd p{socket_, POLLIN, 0};
    int ready = 0;
    do {
      ready = poll(&p, 1, static_cast<int>(seconds * 1000));
    } while (ready < 0 && errno == EINTR);  // a fuzzer uses alarms
    if (ready <= 0)
      throw std::runtime_error("nothing comes for " + std::to_string(seconds) + " seconds after: " + sent_);
    char buffer[65536];
    const ssize_t n = ::recv(socket_, buffer, sizeof(buffer), 0);
    return n > 0 ? std::string(buffer, static_cast<std::size_t>(n)) : std::string();
  }
  bool is_closed(double seconds = 60) {
    try {
      while (!receive(seconds).empty()) {
      }
      return true;
    } catch (const std::runtime_error&) {
      return false;
    }
  }

  static std::string request(const std::string& method, const std::string& path, const std::string& body = "",
                             const std::string& headers = "") {
    std::string text = method + " " + path + " HTTP/1.1\r\nHost: test\r\n" + headers;
    if (!body.empty() || method == "POST")
      text += "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) + "\r\n";
    return text + "\r\n" + body;
  }
  Answer ask(const std::string& method, const std::string& path, const std::string& body = "",
             const std::string& headers = "") {
    send(request(method, path, body, headers));
    return answer(method == "HEAD");
  }
  /// Reads one answer, by its length or in chunks.
  Answer answer(bool head_only = false) {
    std::size_t end = 0;
    while ((end = read_.find("\r\n\r\n")) == std::string::npos) more();
    Answer a;
    const std::string head = read_.substr(0, end + 2);
    read_.erase(0, end + 4);
    a.status = std::stoi(head.substr(9, 3));
    for (std::size_t at = head.find("\r\n") + 2; at < head.size();) {
      const std::size_t line = head.find("\r\n", at), colon = head.find(": ", at);
      std::string name = head.substr(at, colon - at);
      for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      a.headers[name] = head.substr(colon + 2, line - colon - 2);
      at = line + 2;
    }
    if (a.status == 100) return answer(head_only);
    if (head_only || a.status == 204) return a;
    if (a.headers.count("content-length")) {
      const auto length = static_cast<std::size_t>(std::stoul(a.headers["content-length"]));
      while (read_.size() < length) more();
      a.body = read_.substr(0, length);
      read_.erase(0, length);
    } else if (a.headers["transfer-encoding"] == "chunked") {
      for (std::string chunk = next_chunk(); !chunk.empty(); chunk = next_chunk()) a.body += chunk;
    } else {
      a.body = std::move(read_);
      for (std::string text = receive(); !text.empty(); text = receive()) a.body += text;
    }
    return a;
  }
  /// The next chunk of a stream; "" is its end.
  std::string next_chunk() {
    std::size_t end = 0;
    while ((end = read_.find("\r\n")) == std::string::npos) more();
    const auto length = static_cast<std::size_t>(std::stoul(read_.substr(0, end), nullptr, 16));
    while (read_.size() < end + 2 + length + 2) more();
    std::string chunk = read_.substr(end + 2, length);
    read_.erase(0, end + 2 + length + 2);
    return chunk;
  }
  /// The head of a stream; its chunks follow.
  std::string head() {
    std::size_t end = 0;
    while ((end = read_.find("\r\n\r\n")) == std::string::npos) more();
    std::string head = read_.substr(0, end);
    read_.erase(0, end + 4);
    return head;
  }

 private:
  void more() {
    const std::string text = receive();
    if (text.empty()) throw std::runtime_error("the connection ended after: " + sent_);
    read_ += text;
  }
  int socket_;
  std::string read_;
  std::string sent_;  ///< the beginning of what was sent last, for messages
};

}  // namespace tril::serve::testing
