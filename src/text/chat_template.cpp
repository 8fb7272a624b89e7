#include "text/chat_template.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/printable.h"
#include "base/utf8.h"
#include "text/template_functions.h"
#include "text/template_globals.h"
#include "text/template_operators.h"
#include "text/template_syntax.h"

namespace tril {
namespace chat {
namespace {

constexpr int deepest_macro = 20;
constexpr std::size_t step_cost = 5, round_cost = 200;  // a statement or a part of an expression; a loop's round

// Names and their values. A loop's body and a macro's are scopes of their own, in the one around them.
struct Scope {
  const Scope* outer = nullptr;
  std::vector<std::pair<std::string, Value>> names;

  const Value* find(std::string_view name, Budget& budget) const {
    for (const Scope* s = this; s; s = s->outer) {
      budget.pay(1 + s->names.size() / 4);
      for (const auto& [key, value] : s->names)
        if (key == name) return &value;
    }
    return nullptr;
  }
  void set(const std::string& name, Value value) {
    for (auto& [key, held] : names)
      if (key == name) {
        held = std::move(value);
        return;
      }
    names.emplace_back(name, std::move(value));
  }
};

enum class Flow { on, break_loop, next_round };

class Evaluator {
 public:
  explicit Evaluator(std::time_t now) {
    for (const Callable& function : functions(now, budget_)) globals_.set(function.name, function);
  }

  Scope& globals() { return globals_; }

  std::string run(const Block& block) {
    Scope scope{&globals_, {}};
    std::string out;
    execute(block, scope, out);
    return out;
  }

  int line() const { return line_; }

 private:
  // ---- Statements

  void print(const std::string& text, std::string& out) {
    budget_.pay_text(text.size());
    out += text;
    if (out.size() > longest_text) refuse(fmt::format("it writes more than {} bytes", longest_text));
  }

  Flow execute(const Block& block, Scope& scope, std::string& out) {
    for (const Statement& s : block) {
      line_ = s.line;
      budget_.pay(step_cost);
      if (const Flow flow = execute(s, scope, out); flow != Flow::on) return flow;
    }
    return Flow::on;
  }

  Flow execute(const Statement& s, Scope& scope, std::string& out) {
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
        return execute_loop(s, scope, out);
      case Statement::set:
        execute_set(s, scope);
        return Flow::on;
      case Statement::macro:
        scope.set(s.text,
                  Callable{s.text, [this, &s, home = &scope](const Arguments& a) { return run_macro(s, *home, a); }});
        return Flow::on;
      case Statement::filter: {
        std::string inside;
        const Flow flow = execute(s.body, scope, inside);
        print(printed(evaluate_filter(*s.expression, scope, Value(std::move(inside))), budget_), out);
        return flow;
      }
      case Statement::plain:
        return execute(s.body, scope, out);
      case Statement::break_:
        return Flow::break_loop;
      case Statement::continue_:
        return Flow::next_round;
    }
    return Flow::on;
  }

  void assign(const Target& target, Value value, Scope& scope) {
    if (!target.member.empty()) {
      const Value* held = scope.find(target.names[0], budget_);
      const auto* ns = held ? held->get<std::shared_ptr<Namespace>>() : nullptr;
      if (!ns) refuse(fmt::format("\"{}\" is no namespace, its members cannot be set", printable(target.names[0])));
      budget_.pay((*ns)->members.size());
      return put((*ns)->members, target.member, value);
    }
    if (target.names.size() == 1 && !target.unpacks) return scope.set(target.names[0], std::move(value));
    const List parts = elements(value, budget_);
    if (parts.size() != target.names.size())
      refuse(fmt::format("{} names are set to {} values", target.names.size(), parts.size()));
    for (std::size_t i = 0; i < parts.size(); ++i) scope.set(target.names[i], parts[i]);
  }

  void execute_set(const Statement& s, Scope& scope) {
    if (s.expression) return assign(s.target, evaluate(*s.expression, scope), scope);
    std::string inside;
    Scope inner{&scope, {}};
    execute(s.body, inner, inside);
    assign(s.target, Value(std::move(inside)), scope);
  }

  Flow execute_loop(const Statement& s, Scope& scope, std::string& out) {
    List list = elements(evaluate(*s.expression, scope), budget_);
    if (s.condition)
      std::erase_if(list, [&](const Value& one) {
        Scope inner{&scope, {}};
        assign(s.target, one, inner);
        return !evaluate(*s.condition, inner).truth();
      });
    Value last_seen;
    bool seen = false;
    for (std::size_t i = 0; i < list.size(); ++i) {
      budget_.pay(round_cost);
      Scope inner{&scope, {}};
      inner.set("loop", loop_value(list, i, last_seen, seen));
      assign(s.target, list[i], inner);
      if (execute(s.body, inner, out) == Flow::break_loop) break;
    }
    return list.empty() ? execute(s.otherwise, scope, out) : Flow::on;
  }

  Value loop_value(const List& list, std::size_t i, Value& last_seen, bool& seen) {
    const auto n = static_cast<std::int64_t>(list.size()), at = static_cast<std::int64_t>(i);
    const auto neighbour = [&](bool there, std::size_t j, const char* name) {
      return there ? list[j] : Value(Undefined{name});
    };
    return Dict{{"index", at + 1},
                {"index0", at},
                {"revindex", n - at},
                {"revindex0", n - at - 1},
                {"first", i == 0},
                {"last", at == n - 1},
                {"length", n},
                {"depth", std::int64_t{1}},
                {"depth0", std::int64_t{0}},
                {"previtem", neighbour(i > 0, i - 1, "previtem")},
                {"nextitem", neighbour(i + 1 < list.size(), i + 1, "nextitem")},
                {"cycle", Callable{"cycle",
                                   [i](const Arguments& a) -> Value {
                                     if (a.positional.empty()) refuse("loop.cycle() takes values");
                                     return a.positional[i % a.positional.size()];
                                   }}},
                {"changed", Callable{"changed", [this, &last_seen, &seen](const Arguments& a) -> Value {
                                       Value now{a.positional};
                                       budget_.pay_whole(now);
                                       const bool changed = !seen || !equal(now, last_seen);
                                       seen = true;
                                       last_seen = std::move(now);
                                       return changed;
                                     }}}};
  }

  Value run_macro(const Statement& s, const Scope& home, const Arguments& a) {
    if (++macros_ > deepest_macro) refuse(fmt::format("macros call each other more than {} deep", deepest_macro));
    Scope scope{&home, {}};
    const std::vector<std::string>& names = s.target.names;
    if (a.positional.size() > names.size())
      refuse(fmt::format("macro \"{}\" takes {} arguments, not {}", s.text, names.size(), a.positional.size()));
    for (const auto& [name, value] : a.named)
      if (const auto place = std::find(names.begin(), names.end(), name) - names.begin(); place == std::ssize(names))
        refuse(fmt::format("macro \"{}\" has no parameter \"{}\"", s.text, printable(name)));
      else if (place < std::ssize(a.positional))
        refuse(fmt::format("macro \"{}\" is given \"{}\" twice", s.text, name));
    const std::size_t required = names.size() - s.defaults.size();
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (const Value* given = argument(a, i, names[i]))
        scope.set(names[i], *given);
      else
        scope.set(names[i], i < required ? Value(Undefined{names[i]}) : evaluate(*s.defaults[i - required], scope));
    }
    std::string out;
    const int line = line_;
    execute(s.body, scope, out);
    line_ = line;
    --macros_;
    return Value(std::move(out));
  }

  // ---- Expressions

  Value evaluate(const Expression& e, Scope& scope) {
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
      case Expression::list: {
        List list;
        for (std::size_t i = 0; i < e.parts.size(); ++i) list.push_back(part(i));
        return e.name.empty() ? Value(std::move(list)) : Value::tuple(std::move(list));
      }
      case Expression::dict:
        return evaluate_dict(e, scope);
      case Expression::attribute:
        return attribute(part(0), e.name);
      case Expression::item: {
        const Value value = part(0), key = part(1);
        check_defined(value, "has no members");
        Value found = paid_item(value, key);
        if (found.is_undefined() && key.get<std::string>()) return find_method(value, *key.get<std::string>(), budget_);
        return found;
      }
      case Expression::slice:
        return evaluate_slice(e, scope);
      case Expression::call:
        return evaluate_call(e, scope);
      case Expression::filter:
        return evaluate_filter(e, scope, part(0));
      case Expression::test:
        return apply_test(e.name, part(0), arguments_of(e, scope), budget_);
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

  Value attribute(const Value& value, const std::string& name) {
    check_defined(value, fmt::format("has no \"{}\"", printable(name)));
    if (value.get<Callable>()) refuse(fmt::format("members of a function (\"{}\") are not supported", printable(name)));
    Value method = find_method(value, name, budget_);
    return method.is_undefined() ? paid_item(value, Value(name)) : method;
  }

  Value paid_item(const Value& value, const Value& key) {
    if (const auto* s = value.get<std::string>()) budget_.pay(2 * s->size());
    if (const auto* d = value.get<Dict>()) budget_.pay(d->size());
    if (value.get<std::shared_ptr<Namespace>>()) budget_.pay(value.weight());
    return item(value, key);
  }

  Value evaluate_dict(const Expression& e, Scope& scope) {
    Dict dict;
    for (std::size_t i = 0; i < e.parts.size(); i += 2) {
      const Value key = evaluate(*e.parts[i], scope);
      if (!key.get<std::string>())
        refuse(fmt::format("a mapping's key is {}, only strings are supported", key.type_name()));
      Value value = evaluate(*e.parts[i + 1], scope);
      budget_.pay(dict.size());
      bool known = false;
      for (auto& [name, member] : dict)
        if (name == *key.get<std::string>()) known = true, member = value;
      if (!known) dict.emplace_back(*key.get<std::string>(), std::move(value));
    }
    return Value(std::move(dict));
  }

  Arguments arguments_of(const Expression& e, Scope& scope) {
    Arguments a;
    for (std::size_t i = 1; i < e.parts.size(); ++i) a.positional.push_back(evaluate(*e.parts[i], scope));
    for (const auto& [name, value] : e.named) a.named.emplace_back(name, evaluate(*value, scope));
    return a;
  }

  Value evaluate_filter(const Expression& e, Scope& scope, const Value& value) {
    return apply_filter(e.name, value, arguments_of(e, scope), budget_);
  }

  Value evaluate_call(const Expression& e, Scope& scope) {
    const Value function = evaluate(*e.parts[0], scope);
    check_defined(function, "cannot be called");
    const auto* callable = function.get<Callable>();
    if (!callable) refuse(fmt::format("{} cannot be called", function.type_name()));
    const Arguments a = arguments_of(e, scope);
    line_ = e.line;
    return callable->call(a);
  }

  Value evaluate_slice(const Expression& e, Scope& scope) {
    const Value value = evaluate(*e.parts[0], scope);
    check_defined(value, "cannot be cut");
    if (!value.get<std::string>() && !value.get<List>()) refuse(fmt::format("{} cannot be cut", value.type_name()));
    const List all = elements(value, budget_);
    const auto n = static_cast<std::int64_t>(all.size());
    const auto bound = [&](std::size_t i) -> std::optional<std::int64_t> {
      if (!e.parts[i]) return std::nullopt;
      const Value v = evaluate(*e.parts[i], scope);
      if (v.is_none()) return std::nullopt;
      if (!v.integer()) refuse(fmt::format("a slice's bound is {}, expected a whole number", v.type_name()));
      return std::clamp<std::int64_t>(*v.integer(), -(n + 1), n + 1);
    };
    const std::int64_t step = bound(3).value_or(1);
    if (step == 0) refuse("a slice's step is 0");
    const auto place = [&](std::int64_t i) { return i < 0 ? i + n : i; };
    const std::int64_t low = step > 0 ? 0 : -1, high = step > 0 ? n : n - 1;
    const auto from = bound(1), to = bound(2);
    std::int64_t i = std::clamp(from ? place(*from) : step > 0 ? low : high, low, high);
    const std::int64_t end = std::clamp(to ? place(*to) : step > 0 ? high : low, low, high);
    List cut;
    for (; step > 0 ? i < end : i > end; i += step) cut.push_back(all[static_cast<std::size_t>(i)]);
    if (value.is_tuple()) return Value::tuple(std::move(cut));
    if (value.get<List>()) return Value(std::move(cut));
    std::string text;
    for (const Value& one : cut) text += *one.get<std::string>();
    return Value(std::move(text));
  }

  Value evaluate_binary(const Expression& e, Scope& scope) {
    const Value a = evaluate(*e.parts[0], scope);
    if (e.name == "and") return a.truth() ? evaluate(*e.parts[1], scope) : a;
    if (e.name == "or") return a.truth() ? a : evaluate(*e.parts[1], scope);
    const Value b = evaluate(*e.parts[1], scope);
    line_ = e.line;
    return binary(e.name, a, b, budget_);
  }

  Value evaluate_compare(const Expression& e, Scope& scope) {
    Value left = evaluate(*e.parts[0], scope);
    for (std::size_t i = 0; i < e.operators.size(); ++i) {
      Value right = evaluate(*e.parts[i + 1], scope);
      const std::string& op = e.operators[i];
      budget_.pay(8 * std::min(left.weight(), right.weight()));
      const bool holds = op == "=="       ? equal(left, right)
                         : op == "!="     ? !equal(left, right)
                         : op == "in"     ? contains(right, left, budget_)
                         : op == "not in" ? !contains(right, left, budget_)
                         : op == "<"      ? less(left, right)
                         : op == ">"      ? less(right, left)
                         : op == "<="     ? !less(right, left)
                                          : !less(left, right);
      if (!holds) return false;
      left = std::move(right);
    }
    return true;
  }

  Scope globals_;
  Budget budget_;
  int line_ = 1, macros_ = 0;
};

}  // namespace
}  // namespace chat

struct ChatTemplate::Impl {
  std::string where;
  chat::Block block;
};

ChatTemplate::ChatTemplate(std::string_view source, std::string where) {
  if (const auto fault = find_utf8_fault(source)) {
    const std::string_view before = source.substr(0, fault->offset);
    fail(fmt::format("{}: line {}", where, 1 + std::count(before.begin(), before.end(), '\n')),
         fmt::format("is not valid UTF-8 (byte 0x{:02X})", fault->byte));
  }
  chat::Block block = chat::parse_template(source, where);
  impl_ = std::make_unique<const Impl>(Impl{std::move(where), std::move(block)});
}
ChatTemplate::ChatTemplate(ChatTemplate&&) noexcept = default;
ChatTemplate& ChatTemplate::operator=(ChatTemplate&&) noexcept = default;
ChatTemplate::~ChatTemplate() = default;

std::string ChatTemplate::render(const ChatInput& input) const {
  chat::Evaluator evaluator(input.now.value_or(std::time(nullptr)));
  chat::Scope& names = evaluator.globals();
  for (const auto& [name, text] : input.special_tokens) names.set(name, chat::Value(text));
  names.set("messages", chat::from_json(input.messages));
  names.set("tools", chat::from_json(input.tools));
  names.set("documents", chat::from_json(input.documents));
  names.set("add_generation_prompt", chat::Value(input.add_generation_prompt));
  if (input.variables.is_object())
    for (const auto& [name, value] : input.variables.items()) names.set(name, chat::from_json(value));
  try {
    return evaluator.run(impl_->block);
  } catch (const Error& error) {
    throw error.within(fmt::format("{}: line {}", impl_->where, evaluator.line()));
  }
}

}  // namespace tril
