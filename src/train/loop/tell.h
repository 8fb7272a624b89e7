// Calls a hook that may be unset.
#pragma once

#include <utility>

namespace tril::train {

template <class F, class... Args>
void tell(const F& hook, Args&&... args) {
  if (hook) hook(std::forward<Args>(args)...);
}

}  // namespace tril::train
