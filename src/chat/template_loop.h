// What {% for %} goes over, and what "loop" tells of it. Nothing is asked for before it is needed, so that what a round
// does is seen by the next one's condition.
#pragma once

#include <memory>
#include <optional>

#include "chat/template_arguments.h"

namespace tril::chat {

class Loop {
 public:
  /// @param again  what loop(...) does; empty where the loop does not call itself
  Loop(Generator::Next source, std::int64_t depth, std::function<Value(const Arguments&)> again, Budget& budget);

  /// The next one, which is the present one from then on.
  std::optional<Value> next();
  /// What "loop" is.
  static Value object(const std::shared_ptr<Loop>& loop);

 private:
  Value member(std::string_view name);
  Value cycle(const Arguments& a) const;
  Value changed(const Arguments& a);
  const std::optional<Value>& behind();
  std::int64_t length();

  Generator::Next source_;
  std::int64_t depth_;
  std::function<Value(const Arguments&)> again_;
  Budget& budget_;
  std::int64_t index_ = -1;
  Value before_ = Undefined{"previtem"}, now_ = Undefined{"previtem"};
  std::optional<Value> behind_;  // the one behind the present one, where it was asked for
  bool has_behind_ = false;
  List rest_;  // of those behind that, where all were asked for, the last one first
  std::optional<std::int64_t> length_;
  std::optional<Value> last_seen_;
};

}  // namespace tril::chat
