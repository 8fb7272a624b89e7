// Evaluates the expressions of a chat template.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "chat/template_arguments.h"
#include "chat/template_depth.h"
#include "chat/template_syntax.h"

namespace tril::chat {

// Names and their values. A loop's body and a macro's have scopes of their own, inside the enclosing one.
struct Scope {
  const Scope* outer = nullptr;
  std::vector<std::pair<std::string, Value>> names = {};

  const Value* find(std::string_view name, Budget& budget) const;
  void set(const std::string& name, Value value);
};

class ExpressionEvaluator {
 protected:
  explicit ExpressionEvaluator(std::size_t work) : budget_(work) {}

  // Counts the nesting of statements, expressions and macros.
  Deeper go_deeper();

  Value evaluate(const Expression& e, Scope& scope);
  Value evaluate_list(const Expression& e, Scope& scope);
  Value evaluate_dict(const Expression& e, Scope& scope);
  Arguments arguments_of(const Expression& e, Scope& scope);
  Value call(const Expression& e, Scope& scope, const Value* caller = nullptr);
  Value evaluate_slice(const Expression& e, Scope& scope);
  Value evaluate_binary(const Expression& e, Scope& scope);
  Value evaluate_compare(const Expression& e, Scope& scope);
  // `inside` is the input of a filter whose tree has no value (a filter block).
  Value evaluate_filter(const Expression& e, Scope& scope, const Value* inside);

  Budget budget_;
  int line_ = 1, depth_ = 0;
};

}  // namespace tril::chat
