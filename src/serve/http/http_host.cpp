#include "serve/http/http_host.h"

namespace tril::serve {

void HttpHost::stop_posting() {
  const std::unique_lock lock(gate_);
  stopped_ = true;
}

bool HttpHost::reserve_upload(const std::string& address, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto found = uploads_from_.find(address);
  const std::size_t own = found == uploads_from_.end() ? 0 : found->second;
  if (upload_bytes_ + bytes > options.most_upload_bytes) return false;
  if (own > 0 && own + bytes > options.most_upload_bytes / 2) return false;
  upload_bytes_ += bytes, uploads_from_[address] += bytes;
  return true;
}

void HttpHost::release_upload(const std::string& address, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  upload_bytes_ -= bytes;
  const auto found = uploads_from_.find(address);
  if ((found->second -= bytes) == 0) uploads_from_.erase(found);
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
