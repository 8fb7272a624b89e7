// A server as its connections see it: limits, request handler, whether it is draining, and the other connections. Each
// connection keeps it alive, and with it the event loop of the server's sockets.
#pragma once

#include <atomic>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/post.hpp>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <utility>
#include <vector>

#include "serve/http/http_server.h"

namespace tril::serve {

class HttpConnection;

class HttpHost {
 public:
  HttpHost(const HttpServerOptions& o, Handler handler) : options(o), handle(std::move(handler)) {}
  virtual ~HttpHost() = default;

  const HttpServerOptions options;
  const Handler handle;

  /// True if connections must take no further requests.
  bool draining() const { return draining_; }
  void begin_draining() { draining_ = true; }

  /// Reserves room for a large body. One address may have half of all room, or one body. @return whether there is room
  bool reserve_upload(const std::string& address, std::size_t bytes);
  void release_upload(const std::string& address, std::size_t bytes);

  /// Calls f in `strand`, unless stop_posting() was called.
  template <class F>
  void post(const boost::asio::any_io_executor& strand, F f) {
    const std::shared_lock lock(gate_);
    if (!stopped_) boost::asio::post(strand, std::move(f));
  }
  void stop_posting();

  void add(const std::shared_ptr<HttpConnection>& connection);
  void forget(HttpConnection* connection);
  std::size_t size() const;
  /// Oldest first.
  std::vector<std::shared_ptr<HttpConnection>> all() const;

 private:
  std::atomic<bool> draining_ = false;
  std::shared_mutex gate_;
  bool stopped_ = false;  ///< guarded by gate_: no more calls are queued
  mutable std::mutex mutex_;
  std::size_t upload_bytes_ = 0;                     ///< reserved; guarded by mutex_
  std::map<std::string, std::size_t> uploads_from_;  ///< likewise, by address
  std::list<std::pair<HttpConnection*, std::weak_ptr<HttpConnection>>> connections_;
};

}  // namespace tril::serve
