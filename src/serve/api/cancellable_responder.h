// The receiving end of a call that the server makes by itself: a part of a request, or a window of a document.
#pragma once

#include <functional>
#include <mutex>

#include "serve/http/http.h"

namespace tril::serve {

/// Can be cancelled, as if its client had gone away.
class CancellableResponder : public Responder {
 public:
  void on_gone(std::function<void()> f) final;
  /// Runs the callback, and each that is set later. From any thread.
  void cancel();

 private:
  std::mutex mutex_;
  std::function<void()> cancel_;  ///< guarded by mutex_
  bool gone_ = false;             ///< guarded by mutex_
};

}  // namespace tril::serve
