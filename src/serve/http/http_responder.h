// The handler's side of a response: every call is forwarded to the connection's strand.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "serve/http/http.h"

namespace tril::serve {

/// A connection as the responders of its requests see it. All but run() is called in its strand, and has no effect for another request
/// than the one that is being answered.
class AnsweringConnection {
 public:
  virtual ~AnsweringConnection() = default;
  /// Runs f in the connection's strand, unless the server is being destroyed. From any thread.
  virtual void run(std::function<void()> f) = 0;
  virtual void send(std::uint64_t request, const HttpResponse& response) = 0;
  virtual void begin(std::uint64_t request, const HttpResponse& response) = 0;
  virtual void more(std::uint64_t request, std::string_view text) = 0;
  virtual void finish(std::uint64_t request) = 0;
  /// Aborts a stream that will not be finished: the client must not take it for complete.
  virtual void abandon(std::uint64_t request) = 0;
  virtual void tell_if_gone(std::uint64_t request, const std::function<void()>& f) = 0;
};

/// @param request  its number on the connection
std::shared_ptr<Responder> make_responder(std::shared_ptr<AnsweringConnection> connection, std::uint64_t request);

}  // namespace tril::serve
