// A hub of models on the loopback: listings, files with ranges, and large files behind a redirect to a store of
// another port.
#pragma once

#include <fmt/format.h>

#include <cstdlib>
#include <functional>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hub/checksum.h"
#include "hub/settings.h"
#include "support/web_server.h"

namespace tril::test {

inline std::string sum_of(hub::SumKind kind, const std::string& content) {
  hub::Checksum sum(kind, content.size());
  sum.add(std::as_bytes(std::span(content)));
  return sum.digits();
}

/// Bytes that repeat only after a long time.
inline std::string noise(std::size_t size, std::uint32_t seed = 1) {
  std::string bytes(size, '\0');
  for (char& c : bytes) c = static_cast<char>((seed = seed * 1664525u + 1013904223u) >> 24);
  return bytes;
}

class LoopbackHub {
 public:
  /// Another answer than the usual one, if it returns something. Called by several threads, before the usual one is
  /// made.
  using Whim = std::function<std::optional<WebReply>(const WebRequest&)>;

  LoopbackHub()
      : store_([this](const WebRequest& r) { return answer(r, &LoopbackHub::stored); }),
        hub_([this](const WebRequest& r) { return answer(r, &LoopbackHub::listed_or_file); }) {
    ::setenv("no_proxy", "127.0.0.1", 1);
  }

  /// @param large  kept by Git LFS: named by SHA-256, and served by the store
  void add(const std::string& name, const std::string& content, bool large = false) {
    const std::lock_guard hold(mutex_);
    files_[name] = {content, large};
  }
  void remove(const std::string& name) {
    const std::lock_guard hold(mutex_);
    files_.erase(name);
  }
  void set_whim(Whim whim) {
    const std::lock_guard hold(mutex_);
    whim_ = std::move(whim);
  }
  void set_commit(char digit) {
    const std::lock_guard hold(mutex_);
    commit_ = std::string(40, digit);
  }

  std::string commit() const {
    const std::lock_guard hold(mutex_);
    return commit_;
  }
  std::string endpoint() const { return hub_.url(); }
  std::vector<WebRequest> requests() const { return hub_.requests(); }
  std::vector<WebRequest> store_requests() const { return store_.requests(); }
  std::string file_path(const std::string& name) const { return "/acme/model/resolve/" + commit() + "/" + name; }

  /// For the repository acme/model, with its cache in this directory.
  hub::HubSettings settings(const std::string& directory) const {
    hub::HubSettings s;
    s.endpoint = endpoint();
    s.cache = directory + "/hub";
    s.downloads = directory + "/assets/tril";
    s.stall_seconds = 2;
    s.first_wait = 0.01;
    return s;
  }

  /// The listing as the hub gives it.
  nlohmann::json listing() const {
    const std::lock_guard hold(mutex_);
    nlohmann::json list{{"id", "acme/model"}, {"sha", commit_}, {"siblings", nlohmann::json::array()}};
    for (const auto& [name, file] : files_) {
      nlohmann::json entry{
          {"rfilename", name}, {"size", file.content.size()}, {"blobId", sum_of(hub::SumKind::git, file.content)}};
      if (file.large)
        entry["lfs"] = {{"sha256", sum_of(hub::SumKind::sha256, file.content)},
                        {"size", file.content.size()},
                        {"pointerSize", 134}};
      list["siblings"].push_back(entry);
    }
    return list;
  }

  /// The usual answer with a file's content, from the byte that the request names.
  static WebReply content(const WebRequest& request, const std::string& bytes) {
    WebReply reply;
    reply.headers["ETag"] = "\"" + sum_of(hub::SumKind::sha256, bytes) + "\"";
    const std::string range = request.header("range");
    if (range.empty()) {
      reply.body = bytes;
      return reply;
    }
    const std::size_t first = std::stoul(range.substr(std::string("bytes=").size()));
    if (first >= bytes.size()) return {.status = 416};
    reply.status = 206;
    reply.headers["Content-Range"] = fmt::format("bytes {}-{}/{}", first, bytes.size() - 1, bytes.size());
    reply.body = bytes.substr(first);
    return reply;
  }

 private:
  struct File {
    std::string content;
    bool large;
  };

  WebReply answer(const WebRequest& r, WebReply (LoopbackHub::*usual)(const WebRequest&)) {
    Whim whim;
    {
      const std::lock_guard hold(mutex_);
      whim = whim_;
    }
    if (whim)
      if (auto reply = whim(r)) return *reply;
    return (this->*usual)(r);
  }

  WebReply listed_or_file(const WebRequest& request) {
    WebRequest r = request;
    if (const std::string proxied = "http://hub.invalid"; r.path.starts_with(proxied)) r.path.erase(0, proxied.size());
    const std::string api = "/api/models/acme/model/revision/";
    if (r.path.starts_with("/api/models/")) {
      if (!r.path.starts_with(api)) return {.status = 404, .headers = {{"X-Error-Code", "RepoNotFound"}}};
      const std::string revision = r.path.substr(api.size(), r.path.find('?') - api.size());
      if (revision != "main" && revision != "refs%2Fpr%2F7" && revision != commit())
        return {.status = 404, .headers = {{"X-Error-Code", "RevisionNotFound"}}};
      return {.body = listing().dump()};
    }
    const std::string start = "/acme/model/resolve/" + commit() + "/";
    const std::lock_guard hold(mutex_);
    const auto at = r.path.starts_with(start) ? files_.find(r.path.substr(start.size())) : files_.end();
    if (at == files_.end()) return {.status = 404, .headers = {{"X-Error-Code", "EntryNotFound"}}};
    if (!at->second.large) return content(r, at->second.content);
    const std::string sum = sum_of(hub::SumKind::sha256, at->second.content);
    return {.status = 302,
            .headers = {{"Location", store_.url() + "/" + sum},
                        {"X-Linked-Etag", "\"" + sum + "\""},
                        {"X-Linked-Size", std::to_string(at->second.content.size())}}};
  }

  WebReply stored(const WebRequest& r) {
    const std::lock_guard hold(mutex_);
    for (const auto& [name, file] : files_)
      if (r.path == "/" + sum_of(hub::SumKind::sha256, file.content)) return content(r, file.content);
    return {.status = 404};
  }

  mutable std::mutex mutex_;
  std::string commit_ = std::string(40, 'a');
  std::map<std::string, File> files_;
  Whim whim_;
  WebServer store_, hub_;
};

}  // namespace tril::test
