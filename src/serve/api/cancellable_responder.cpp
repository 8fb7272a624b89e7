#include "serve/api/cancellable_responder.h"

#include <utility>

namespace tril::serve {

// Callbacks run, and are destroyed, without the lock: they may hold a model, or cancel another call.
void CancellableResponder::on_gone(std::function<void()> f) {
  {
    const std::lock_guard lock(mutex_);
    if (!gone_) return cancel_.swap(f);
  }
  f();
}

void CancellableResponder::cancel() {
  std::function<void()> f;
  {
    const std::lock_guard lock(mutex_);
    gone_ = true;
    f.swap(cancel_);
  }
  if (f) f();
}

}  // namespace tril::serve
