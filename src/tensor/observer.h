// Observer: sees the values of a pass at named points, and may replace them. Modules show their values with the functions
// below, which without an observer cost one test of a pointer. The name of a point is the path of its parts and the value's
// own name, by the terms of the papers whatever the family: "decoder.3.self.weights".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tensor/context.h"

namespace tril {

/// A line of tril's code. As a default argument, `SourceLine at = {__builtin_FILE(), __builtin_LINE()}` is the caller's line.
struct SourceLine {
  const char* file = "";  ///< as the compiler has been given it
  int line = 0;           ///< 0: none is known
  /// "src/nn/attention.cpp:221", or "" if none is known.
  std::string text() const;
};

class Observer {
 public:
  /// A value's name within its part, and what its columns are.
  struct Point {
    std::string_view name;
    std::int64_t heads = 0;  ///< the columns [N, heads * d] are those of so many heads, side by side; 0: of no heads
    Point(const char* n) : name(n) {}  // NOLINT(google-explicit-constructor): most points have a name only
    Point(const char* n, std::int64_t h) : name(n), heads(h) {}
  };

  Observer() = default;
  virtual ~Observer() = default;
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;

  /// True if the value of this point is wanted: values that the pass itself does not compute are computed only then.
  bool wants(std::string_view name) { return wants_point(full(name)); }
  /// Shows a value, which the code at this line has computed. True if `value` is another one now, with which the pass goes on.
  bool see(Context& c, const Point& point, Tensor& value, SourceLine at) {
    const std::string name = full(point.name);
    computed_at(at);
    return wants_point(name) && see_point(c, name, point.heads, value);
  }
  /// Asked before values are computed that only the observer wants. @throws Error(usage) if they take too much memory
  void ask(std::string_view name, std::int64_t bytes) { ask_bytes(full(name), bytes); }
  /// Names the line that has computed a value which is shown elsewhere.
  void computed_at(SourceLine at) { computed_at_ = at; }
  /// True if the pass is to go on without this step, such as "positions".
  bool leaves_out(std::string_view step) { return leaves_out_step(full(step)); }

 protected:
  virtual bool wants_point(const std::string& name) = 0;
  virtual bool see_point(Context& c, const std::string& name, std::int64_t heads, Tensor& value) = 0;
  virtual bool leaves_out_step(const std::string&) { return false; }
  virtual void ask_bytes(const std::string&, std::int64_t) {}
  /// Of the value that is seen.
  const SourceLine& computed_at() const { return computed_at_; }

 private:
  friend class ObservedPart;
  std::string full(std::string_view name) const;  // "" is the part itself

  std::vector<std::string> parts_;
  SourceLine computed_at_;
};

/// Names a part of the pass for the observer, if there is one, until it is destroyed.
class ObservedPart {
 public:
  ObservedPart(const Context& c, std::string_view name) : observer_(c.observer()) {
    if (observer_) observer_->parts_.emplace_back(name);
  }
  ObservedPart(const Context& c, std::int64_t number) : observer_(c.observer()) {
    if (observer_) observer_->parts_.push_back(std::to_string(number));
  }
  ObservedPart(const ObservedPart&) = delete;
  ObservedPart& operator=(const ObservedPart&) = delete;
  ~ObservedPart() {
    if (observer_) observer_->parts_.pop_back();
  }

 private:
  Observer* observer_;
};

/// True if an observer wants the value of this point.
inline bool observed(const Context& c, std::string_view name) {
  return c.observer() && c.observer()->wants(name);
}
/// Shows a value to the observer. True if `value` was replaced.
inline bool observe(Context& c, const Observer::Point& point, Tensor& value,
                    SourceLine at = {__builtin_FILE(), __builtin_LINE()}) {
  return c.observer() && c.observer()->see(c, point, value, at);
}
/// Tells the observer that this line computes the value that is shown next, elsewhere.
inline void computed_here(const Context& c, SourceLine at = {__builtin_FILE(), __builtin_LINE()}) {
  if (c.observer()) c.observer()->computed_at(at);
}
/// True if an observer leaves this step out.
inline bool skipped(const Context& c, std::string_view step) {
  return c.observer() && c.observer()->leaves_out(step);
}

}  // namespace tril
