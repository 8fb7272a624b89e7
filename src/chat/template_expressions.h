// Expressions of a chat template at work.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "chat/template_arguments.h"
#include "chat/template_syntax.h"

namespace tril::chat {

// Names and their values. A loop's body and a macro's are scopes of their own, in the one around them.
struct Scope {
  const Scope* outer = nullptr;
  std::vector<std::pair<std::string, Value>> names = {};

  const Value* find(std::string_view name, Budget& budget) const;
  void set(const std::string& name, Value value);
};

class ExpressionEvaluator {
 protected:
  // How deep statements, expressions and macros are within each other, so that the stack is enough.
  class Deeper {
   public:
    explicit Deeper(ExpressionEvaluator& evaluator);
    ~Deeper() { --depth_; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;

   private:
    int& depth_;
  };

  Value evaluate(const Expression& e, Scope& scope);
  Value evaluate_list(const Expression& e, Scope& scope);
  Value evaluate_dict(const Expression& e, Scope& scope);
  Arguments arguments_of(const Expression& e, Scope& scope);
  Value call(const Expression& e, Scope& scope, const Value* caller = nullptr);
  Value evaluate_slice(const Expression& e, Scope& scope);
  Value evaluate_binary(const Expression& e, Scope& scope);
  Value evaluate_compare(const Expression& e, Scope& scope);
  // `inside` is what a filter without a value of its own filters.
  Value evaluate_filter(const Expression& e, Scope& scope, const Value* inside);

  Budget budget_;
  int line_ = 1, depth_ = 0;
};

}  // namespace tril::chat
