// Who watches: the streams of server-sent events that are open.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "serve/http/http.h"

namespace tril::watch {

/// All functions may be called by several threads. None waits for a reader: the server's threads send, and close the connection of one
/// who takes nothing.
class Readers {
 public:
  /// Begins the stream. @return false if `most` are open already
  bool add(const std::shared_ptr<serve::Responder>& reader, std::size_t most);
  /// @param json  on one line
  void tell(std::string_view event, std::string_view json);
  std::size_t count() const { return open_->count; }
  void finish();

 private:
  // Shared with the calls that come when a reader leaves, which may be after this object's end.
  struct Open {
    std::mutex mutex;
    std::vector<std::shared_ptr<serve::Responder>> list;  ///< guarded by mutex
    std::atomic<std::size_t> count = 0;
  };
  std::shared_ptr<Open> open_ = std::make_shared<Open>();
};

}  // namespace tril::watch
