// Evaluates a chat template: walks its tree with the values of its names.
#pragma once

#include <ctime>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "chat/template_arguments.h"
#include "chat/template_syntax.h"

namespace tril::chat {

// Names and their values. A loop's body and a macro's have scopes of their own, inside the enclosing one.
struct Scope {
  const Scope* outer = nullptr;
  std::vector<std::pair<std::string, Value>> names = {};

  const Value* find(std::string_view name, Budget& budget) const;
  void set(const std::string& name, Value value);
};

class Evaluator {
 public:
  explicit Evaluator(std::time_t now);

  Scope& globals() { return globals_; }
  std::string run(const Block& block);
  int line() const { return line_; }

 private:
  enum class Flow : std::uint8_t { on, break_loop, next_round };

  // The nesting of statements, expressions and macros, limited so that the stack suffices.
  class Deeper {
   public:
    explicit Deeper(Evaluator& evaluator);
    ~Deeper() { --depth_; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;

   private:
    int& depth_;
  };

  // One run of a loop: what it iterates over, its position, and its depth of recursion.
  struct LoopRun {
    const Statement& statement;
    Scope& scope;
    std::int64_t depth = 0;
  };

  // ---- Statements (template_statements.cpp)

  void print(const std::string& text, std::string& out);
  Flow execute(const Block& block, Scope& scope, std::string& out);
  Flow execute(const Statement& s, Scope& scope, std::string& out);
  void assign(const Target& target, const Value& value, Scope& scope);
  Flow execute_set(const Statement& s, Scope& scope);
  void execute_with(const Statement& s, Scope& scope, std::string& out);
  Flow execute_filter(const Statement& s, Scope& scope, std::string& out);
  Flow execute_loop(const LoopRun& run, const Value& iterable, std::string& out);
  Generator::Next source_of(const LoopRun& run, const Value& iterable);
  Value macro_object(const Macro& macro, const Scope& home);
  Value run_macro(const Macro& macro, const Scope& home, const Arguments& a);
  void bind(const Macro& macro, const Arguments& a, Scope& scope);

  // ---- Expressions (template_expressions.cpp)

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

  Scope globals_;
  Budget budget_;
  int line_ = 1, depth_ = 0, macros_ = 0;
};

}  // namespace tril::chat
