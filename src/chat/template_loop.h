// The iteration of {% for %}, and its "loop" object. Elements are fetched only when needed, so that the condition of
// the next one sees the effects of the current round.
#pragma once

#include <memory>
#include <optional>

#include "chat/template_arguments.h"

namespace tril::chat {

class Loop {
 public:
  /// @param again  what loop(...) does; empty if the loop is not recursive
  Loop(Generator::Next source, std::int64_t depth, std::function<Value(const Arguments&)> again, Budget& budget);

  /// Advances to the next element and returns it.
  std::optional<Value> next();
  /// The "loop" object.
  static Value object(const std::shared_ptr<Loop>& loop);

 private:
  Value member(std::string_view name);
  Value cycle(const Arguments& a) const;
  Value changed(const Arguments& a);
  const std::optional<Value>& following();
  std::int64_t length();

  Generator::Next source_;
  std::int64_t depth_;
  std::function<Value(const Arguments&)> again_;
  Budget& budget_;
  std::int64_t index_ = -1;
  Value before_ = Undefined{"previtem"}, now_ = Undefined{"previtem"};
  std::optional<Value> next_;  // the next element, if it has been fetched
  bool has_next_ = false;
  List rest_;  // all elements after that, if they have been fetched, the last one first
  std::optional<std::int64_t> length_;
  std::optional<Value> last_seen_;
};

}  // namespace tril::chat
