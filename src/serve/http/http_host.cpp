#include "serve/http/http_host.h"

namespace tril::serve {

void HttpHost::stop_posting() {
  const std::unique_lock lock(gate_);
  stopped_ = true;
}

void HttpHost::add(const std::shared_ptr<HttpConnection>& connection) {
  const std::lock_guard lock(mutex_);
  connections_.emplace_back(connection.get(), connection);
}

void HttpHost::forget(HttpConnection* connection) {
  const std::lock_guard lock(mutex_);
  connections_.remove_if([&](const auto& c) { return c.first == connection; });
}

std::size_t HttpHost::size() const {
  const std::lock_guard lock(mutex_);
  return connections_.size();
}

std::vector<std::shared_ptr<HttpConnection>> HttpHost::all() const {
  std::vector<std::shared_ptr<HttpConnection>> list;
  const std::lock_guard lock(mutex_);
  for (const auto& [address, weak] : connections_)
    if (auto connection = weak.lock()) list.push_back(std::move(connection));
  return list;
}

}  // namespace tril::serve
