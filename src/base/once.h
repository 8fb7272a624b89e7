// A value that is made when it is first asked for, once, whichever threads ask.
#pragma once

#include <mutex>
#include <optional>
#include <utility>

namespace tril {

/// Where `make` throws, nothing is kept, and the next one who asks makes it anew.
template <class T>
class Once {
 public:
  template <class Make>
  const T& get(const Make& make) const {
    std::call_once(flag_, [&] { value_.emplace(make()); });
    return *value_;
  }

 private:
  mutable std::once_flag flag_;
  mutable std::optional<T> value_;
};

}  // namespace tril
