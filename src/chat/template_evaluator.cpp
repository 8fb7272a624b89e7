#include "chat/template_evaluator.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/printable.h"
#include "chat/template_functions.h"
#include "chat/template_globals.h"
#include "chat/template_loop.h"
#include "chat/template_written.h"

namespace tril::chat {
namespace {

constexpr int deepest_macro = 50;
constexpr std::size_t statement_cost = 5, round_cost = 200;  // per statement or part of an expression; per round

}  // namespace

Evaluator::Evaluator(std::time_t now, std::size_t work) : ExpressionEvaluator(work) {
  for (const Callable& function : functions(now, budget_)) globals_.set(function.name, function);
}

std::string Evaluator::run(const Block& block) {
  Scope scope{&globals_};
  std::string out;
  execute(block, scope, out);
  return out;
}

void Evaluator::print(const std::string& text, std::string& out) {
  budget_.pay_text(text.size());
  out += text;
  if (out.size() > longest_text) refuse(fmt::format("it writes more than {} bytes", longest_text));
}

Evaluator::Flow Evaluator::execute(const Block& block, Scope& scope, std::string& out) {
  const Deeper deeper = go_deeper();
  for (const Statement& s : block) {
    line_ = s.line;
    budget_.pay(statement_cost);
    if (const Flow flow = execute(s, scope, out); flow != Flow::on) return flow;
  }
  return Flow::on;
}

Evaluator::Flow Evaluator::execute(const Statement& s, Scope& scope, std::string& out) {
  switch (s.kind) {
    case Statement::output:
      print(s.text, out);
      return Flow::on;
    case Statement::print:
      print(printed(evaluate(*s.expression, scope), budget_), out);
      return Flow::on;
    case Statement::if_:
      return execute(evaluate(*s.expression, scope).truth() ? s.body : s.otherwise, scope, out);
    case Statement::for_:
      return execute_loop({s, scope}, evaluate(*s.expression, scope), out);
    case Statement::set:
      return execute_set(s, scope);
    case Statement::with:
      execute_with(s, scope, out);
      return Flow::on;
    case Statement::macro_:
      scope.set(s.macro->name, macro_object(*s.macro, scope));
      return Flow::on;
    case Statement::call: {
      const Value caller = macro_object(*s.macro, scope);
      print(printed(call(*s.expression, scope, &caller), budget_), out);
      return Flow::on;
    }
    case Statement::filter_:
      return execute_filter(s, scope, out);
    case Statement::generation: {
      Scope inner{&scope};  // its assignments are not visible afterwards
      return execute(s.body, inner, out);
    }
    case Statement::break_:
      return Flow::break_loop;
    case Statement::continue_:
      return Flow::next_round;
  }
  return Flow::on;
}

void Evaluator::assign(const Target& target, const Value& value, Scope& scope) {
  if (!target.member.empty()) {
    const Value* held = scope.find(target.name, budget_);
    const auto* ns = held ? held->get<std::shared_ptr<Namespace>>() : nullptr;
    if (!ns) refuse(fmt::format("\"{}\" is not a namespace, so its members cannot be set", printable(target.name)));
    budget_.pay((*ns)->members.size());
    return set_member(**ns, Value(target.member), value);
  }
  if (!target.unpacks) return scope.set(target.name, value);
  const List parts = elements(value, budget_);
  if (parts.size() != target.parts.size())
    refuse(fmt::format("{} names cannot be set to {} values", target.parts.size(), parts.size()));
  for (std::size_t i = 0; i < parts.size(); ++i) assign(target.parts[i], parts[i], scope);
}

Evaluator::Flow Evaluator::execute_set(const Statement& s, Scope& scope) {
  if (s.expression) {
    assign(s.target, evaluate(*s.expression, scope), scope);
    return Flow::on;
  }
  std::string inside;
  Scope inner{&scope};
  if (const Flow flow = execute(s.body, inner, inside); flow != Flow::on) return flow;
  const Value text(std::move(inside));
  assign(s.target, s.filter ? evaluate_filter(*s.filter, scope, &text) : text, scope);
  return Flow::on;
}

void Evaluator::execute_with(const Statement& s, Scope& scope, std::string& out) {
  Scope inner{&scope};
  for (const auto& [target, expression] : s.settings) assign(target, evaluate(*expression, scope), inner);
  execute(s.body, inner, out);
}

Evaluator::Flow Evaluator::execute_filter(const Statement& s, Scope& scope, std::string& out) {
  std::string inside;
  Scope inner{&scope};
  if (const Flow flow = execute(s.body, inner, inside); flow != Flow::on) return flow;
  const Value text(std::move(inside));
  print(printed(evaluate_filter(*s.filter, scope, &text), budget_), out);
  return Flow::on;
}

// The elements that a loop iterates over, filtered by its condition, each fetched when needed.
Generator::Next Evaluator::source_of(const LoopRun& run, const Value& iterable) {
  Generator::Next all = over(iterable, budget_);
  if (!run.statement.condition) return all;
  return [this, run, all = std::move(all)]() -> std::optional<Value> {
    while (std::optional<Value> one = all()) {
      budget_.pay(round_cost / 4);
      Scope inner{&run.scope};
      assign(run.statement.target, *one, inner);
      if (evaluate(*run.statement.condition, inner).truth()) return one;
    }
    return std::nullopt;
  };
}

Evaluator::Flow Evaluator::execute_loop(const LoopRun& run, const Value& iterable, std::string& out) {
  std::function<Value(const Arguments&)> again;
  if (run.statement.recursive)
    again = [this, run](const Arguments& a) {
      check_arguments(a, "iterable", "loop()");
      const Deeper deeper = go_deeper();
      std::string inside;
      const int line = line_;
      execute_loop({run.statement, run.scope, run.depth + 1}, needed(a, 0, "iterable", "loop()"), inside);
      line_ = line;
      return Value(std::move(inside));
    };
  const auto loop = std::make_shared<Loop>(source_of(run, iterable), run.depth, std::move(again), budget_);
  const Value object = Loop::object(loop);
  bool any = false;
  while (const std::optional<Value> one = loop->next()) {
    any = true;
    budget_.pay(round_cost);
    Scope inner{&run.scope};
    inner.set("loop", object);
    assign(run.statement.target, *one, inner);
    if (execute(run.statement.body, inner, out) == Flow::break_loop) break;
    line_ = run.statement.line;
  }
  if (any) return Flow::on;
  Scope inner{&run.scope};
  return execute(run.statement.otherwise, inner, out);
}

Value Evaluator::macro_object(const Macro& macro, const Scope& home) {
  const auto run = [this, &macro, home = &home](const Arguments& a) { return run_macro(macro, *home, a); };
  const auto member = [&macro](std::string_view name) -> Value {
    if (name == "name") return macro.name;
    if (name == "catch_kwargs") return macro.takes_named;
    if (name == "catch_varargs") return macro.takes_more;
    if (name == "caller") return macro.takes_caller;
    if (name != "arguments") return Undefined{std::string(name)};
    return Value::tuple(List(macro.parameters.begin(), macro.parameters.end()));
  };
  return Callable{macro.name, run, member, [&macro] { return fmt::format("<Macro '{}'>", macro.name); }};
}

Value Evaluator::run_macro(const Macro& macro, const Scope& home, const Arguments& a) {
  const Deeper deeper = go_deeper();
  if (macros_ >= deepest_macro) refuse(fmt::format("macros call each other more than {} deep", deepest_macro));
  ++macros_;
  const int line = line_;
  Scope scope{&home};
  bind(macro, a, scope);
  std::string out;
  execute(macro.body, scope, out);
  line_ = line;
  --macros_;
  return Value(std::move(out));
}

// Binds a call's arguments to a macro's parameters.
void Evaluator::bind(const Macro& macro, const Arguments& a, Scope& scope) {
  const std::vector<std::string>& names = macro.parameters;
  const std::size_t by_place = std::min(a.positional.size(), names.size());
  if (a.positional.size() > names.size() && !macro.takes_more)
    refuse(fmt::format("macro \"{}\" takes {} arguments, not {}", macro.name, names.size(), a.positional.size()));
  budget_.pay(2 * names.size() * a.named.size());  // each name is looked up among the given ones, and these here
  Dict others;
  Value caller = Undefined{"caller"};
  for (const auto& [name, value] : a.named) {
    const auto place = std::find(names.begin(), names.end(), name) - names.begin();
    if (place < std::ssize(names) && std::cmp_greater_equal(place, by_place)) continue;
    if (name == "caller" && macro.takes_caller) {
      caller = value;
      continue;
    }
    if (!macro.takes_named)
      refuse(place < std::ssize(names)
                 ? fmt::format("macro \"{}\" is given \"{}\" twice", macro.name, name)
                 : fmt::format("macro \"{}\" has no parameter \"{}\"", macro.name, printable(name)));
    budget_.pay(others.size());
    put(others, Value(name), value);
  }
  if (macro.takes_caller) scope.set("caller", caller);
  if (macro.takes_named) scope.set("kwargs", Value(std::move(others)));
  if (macro.takes_more) scope.set("varargs", Value::tuple(rest_of(a.positional, by_place)));
  const std::size_t required = names.size() - macro.defaults.size();
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (const Value* given = argument(a, i, names[i]))
      scope.set(names[i], *given);
    else
      scope.set(names[i], i < required ? Value(Undefined{names[i]}) : evaluate(*macro.defaults[i - required], scope));
  }
}

}  // namespace tril::chat
