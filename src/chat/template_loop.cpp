#include "chat/template_loop.h"

#include <fmt/format.h>

#include <algorithm>

namespace tril::chat {

Loop::Loop(Generator::Next source, std::int64_t depth, std::function<Value(const Arguments&)> again, Budget& budget)
    : source_(std::move(source)), depth_(depth), again_(std::move(again)), budget_(budget) {}

std::optional<Value> Loop::next() {
  std::optional<Value> value = following();
  has_next_ = false;
  next_.reset();
  if (!value) return std::nullopt;
  before_ = std::exchange(now_, *value);
  ++index_;
  return value;
}

const std::optional<Value>& Loop::following() {
  if (has_next_) return next_;
  has_next_ = true;
  if (!length_) {
    next_ = source_();
  } else if (!rest_.empty()) {
    next_ = std::move(rest_.back());
    rest_.pop_back();
  }
  return next_;
}

std::int64_t Loop::length() {
  if (length_) return *length_;
  const std::int64_t read = index_ + 1 + (following() ? 1 : 0);
  while (std::optional<Value> one = source_()) {
    budget_.pay(2);
    rest_.push_back(std::move(*one));
  }
  std::reverse(rest_.begin(), rest_.end());
  length_ = read + std::ssize(rest_);
  return *length_;
}

Value Loop::cycle(const Arguments& a) const {
  if (a.positional.empty()) refuse("loop.cycle() takes values");
  return a.positional[static_cast<std::size_t>(index_) % a.positional.size()];
}

Value Loop::changed(const Arguments& a) {
  Value value = Value::tuple(a.positional);
  budget_.pay_whole(value);
  if (last_seen_) budget_.pay(cost_of_equal(value, *last_seen_));
  const bool changed = !last_seen_ || !equal(value, *last_seen_);
  last_seen_ = std::move(value);
  return changed;
}

Value Loop::member(std::string_view name) {
  if (name == "index") return index_ + 1;
  if (name == "index0") return index_;
  if (name == "first") return index_ == 0;
  if (name == "last") return !following();
  if (name == "length") return length();
  if (name == "revindex") return length() - index_;
  if (name == "revindex0") return length() - index_ - 1;
  if (name == "depth") return depth_ + 1;
  if (name == "depth0") return depth_;
  if (name == "previtem") return before_;
  if (name == "nextitem") return following() ? *following() : Value(Undefined{"nextitem"});
  return Undefined{std::string(name)};
}

Value Loop::object(const std::shared_ptr<Loop>& loop) {
  const auto call = [loop](const Arguments& a) {
    if (!loop->again_) refuse("loop() calls a loop that is not recursive", "write {% for ... recursive %}");
    return loop->again_(a);
  };
  const auto member = [loop](std::string_view name) -> Value {
    loop->budget_.pay(10);
    if (name == "cycle") return Callable{"cycle", [loop](const Arguments& a) { return loop->cycle(a); }};
    if (name == "changed") return Callable{"changed", [loop](const Arguments& a) { return loop->changed(a); }};
    return loop->member(name);
  };
  return Callable{"loop", call, member,
                  [loop] { return fmt::format("<LoopContext {}/{}>", loop->index_ + 1, loop->length()); }};
}

}  // namespace tril::chat
