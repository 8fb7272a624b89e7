#include "chat/template_expressions.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/printable.h"
#include "chat/template_functions.h"
#include "chat/template_operators.h"

namespace tril::chat {
namespace {

constexpr int deepest_statement = 400;
constexpr std::size_t step_cost = 5;

}  // namespace

const Value* Scope::find(std::string_view name, Budget& budget) const {
  for (const Scope* s = this; s; s = s->outer) {
    budget.pay(1 + s->names.size() / 4);
    for (const auto& [key, value] : s->names)
      if (key == name) return &value;
  }
  return nullptr;
}

void Scope::set(const std::string& name, Value value) {
  for (auto& [key, held] : names)
    if (key == name) {
      held = std::move(value);
      return;
    }
  names.emplace_back(name, std::move(value));
}

Deeper ExpressionEvaluator::go_deeper() {
  return {depth_, deepest_statement,
          [] { refuse(fmt::format("it is nested more than {} levels deep", deepest_statement)); }};
}

Value ExpressionEvaluator::evaluate(const Expression& e, Scope& scope) {
  const Deeper deeper = go_deeper();
  budget_.pay(step_cost);
  line_ = e.line;
  const auto part = [&](std::size_t i) { return evaluate(*e.parts[i], scope); };
  switch (e.kind) {
    case Expression::constant:
      return e.value;
    case Expression::variable: {
      const Value* found = scope.find(e.name, budget_);
      return found ? *found : Value(Undefined{e.name});
    }
    case Expression::list:
      return evaluate_list(e, scope);
    case Expression::dict:
      return evaluate_dict(e, scope);
    case Expression::attribute:
      return attribute(part(0), e.name, budget_);
    case Expression::item: {
      const Value value = part(0);
      return subscript(value, part(1), budget_);
    }
    case Expression::slice:
      return evaluate_slice(e, scope);
    case Expression::call:
      return call(e, scope);
    case Expression::filter:
      return evaluate_filter(e, scope, nullptr);
    case Expression::test: {
      const Value value = part(0);
      return apply_test(e.name, value, arguments_of(e, scope), budget_);
    }
    case Expression::unary:
      return unary(e.name, part(0));
    case Expression::binary:
      return evaluate_binary(e, scope);
    case Expression::compare:
      return evaluate_compare(e, scope);
    case Expression::conditional:
      if (part(0).truth()) return part(1);
      return e.parts[2] ? part(2) : Value(Undefined{"else"});
  }
  return Value();
}

Value ExpressionEvaluator::evaluate_list(const Expression& e, Scope& scope) {
  List list;
  for (const ExpressionPtr& part : e.parts) list.push_back(evaluate(*part, scope));
  return e.name.empty() ? Value(std::move(list)) : Value::tuple(std::move(list));
}

Value ExpressionEvaluator::evaluate_dict(const Expression& e, Scope& scope) {
  Dict dict;
  for (std::size_t i = 0; i < e.parts.size(); i += 2) {
    const Value key = evaluate(*e.parts[i], scope);
    const Value value = evaluate(*e.parts[i + 1], scope);
    budget_.pay(cost_of_find(dict, key));
    put(dict, key, value);
  }
  return Value(std::move(dict));
}

Arguments ExpressionEvaluator::arguments_of(const Expression& e, Scope& scope) {
  Arguments a;
  for (std::size_t i = 1; i < e.parts.size(); ++i) a.positional.push_back(evaluate(*e.parts[i], scope));
  if (e.list_of_arguments)
    for (Value& one : elements(evaluate(*e.list_of_arguments, scope), budget_)) a.positional.push_back(std::move(one));
  for (const auto& [name, value] : e.named) a.named.emplace_back(name, evaluate(*value, scope));
  if (!e.mapping_of_arguments) return a;
  const Value given = evaluate(*e.mapping_of_arguments, scope);
  const auto* mapping = given.get<Dict>();
  if (!mapping) refuse(fmt::format("** takes a mapping, not {}", given.type_name()));
  for (const auto& [key, value] : *mapping) {
    const std::string& name = text_of(key, "an argument's name");
    budget_.pay(1 + a.named.size() * (1 + name.size() / 64));
    if (std::any_of(a.named.begin(), a.named.end(), [&](const auto& one) { return one.first == name; }))
      refuse(fmt::format("the argument \"{}\" is given twice", printable(name)));
    a.named.emplace_back(name, value);
  }
  return a;
}

Value ExpressionEvaluator::call(const Expression& e, Scope& scope, const Value* caller) {
  const Value function = evaluate(*e.parts[0], scope);
  check_defined(function, "cannot be called");
  const auto* callable = function.get<Callable>();
  if (!callable || !callable->call)
    refuse(fmt::format("{} cannot be called", callable ? callable->name : std::string(function.type_name())));
  Arguments a = arguments_of(e, scope);
  budget_.pay(10 * (a.positional.size() + a.named.size()));
  if (caller) a.named.emplace_back("caller", *caller);
  line_ = e.line;
  return callable->call(a);
}

Value ExpressionEvaluator::evaluate_slice(const Expression& e, Scope& scope) {
  const Value value = evaluate(*e.parts[0], scope);
  List bounds;
  for (std::size_t i = 1; i < 4; ++i) bounds.push_back(e.parts[i] ? evaluate(*e.parts[i], scope) : Value());
  return slice(value, bounds, budget_);
}

Value ExpressionEvaluator::evaluate_binary(const Expression& e, Scope& scope) {
  const Value a = evaluate(*e.parts[0], scope);
  if (e.name == "and") return a.truth() ? evaluate(*e.parts[1], scope) : a;
  if (e.name == "or") return a.truth() ? a : evaluate(*e.parts[1], scope);
  const Value b = evaluate(*e.parts[1], scope);
  line_ = e.line;
  return binary(e.name, a, b, budget_);
}

Value ExpressionEvaluator::evaluate_compare(const Expression& e, Scope& scope) {
  Value left = evaluate(*e.parts[0], scope);
  for (std::size_t i = 0; i < e.operators.size(); ++i) {
    Value right = evaluate(*e.parts[i + 1], scope);
    if (!compares(e.operators[i], left, right, budget_)) return false;
    left = std::move(right);
  }
  return true;
}

Value ExpressionEvaluator::evaluate_filter(const Expression& e, Scope& scope, const Value* inside) {
  const Expression* before = e.parts[0].get();
  const bool is_chain = inside && before && before->kind == Expression::filter;
  const Value value = is_chain ? evaluate_filter(*before, scope, inside) : before ? evaluate(*before, scope) : *inside;
  return apply_filter(e.name, value, arguments_of(e, scope), budget_);
}

}  // namespace tril::chat
