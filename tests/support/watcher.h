// Watcher: an observer that hands the values of some points to a function, for tests that look inside a computation.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "tensor/observer.h"

namespace tril {

class Watcher : public Observer {
 public:
  /// Gets the name of the module, "self_attn", and the value.
  using Seen = std::function<void(const std::string& where, const Tensor& value)>;
  /// @param point  the points' own name, such as "weights"
  Watcher(Context& c, std::string point, Seen seen) : context_(c), point_(std::move(point)), seen_(std::move(seen)) {
    c.set_observer(this);
  }
  ~Watcher() override { context_.set_observer(nullptr); }
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

 protected:
  bool wants_point(const std::string& name) override { return name.substr(name.rfind('.') + 1) == point_; }
  bool see_point(Context& c, const std::string&, std::int64_t, Tensor& value) override {
    seen_(c.where(), value);
    return false;
  }

 private:
  Context& context_;
  std::string point_;
  Seen seen_;
};

}  // namespace tril
