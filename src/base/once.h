// A value that is computed once, when any thread first asks for it.
#pragma once

#include <mutex>
#include <optional>
#include <utility>

namespace tril {

/// If `make` throws, nothing is kept, and the next caller tries again.
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
