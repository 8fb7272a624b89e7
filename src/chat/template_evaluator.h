// Evaluates a chat template: walks its tree with the values of its names.
#pragma once

#include <cstdint>
#include <ctime>
#include <string>

#include "chat/template_expressions.h"

namespace tril::chat {

class Evaluator : private ExpressionEvaluator {
 public:
  /// @param work  the most that the template may do (Budget)
  Evaluator(std::time_t now, std::size_t work);

  Scope& globals() { return globals_; }
  std::string run(const Block& block);
  int line() const { return line_; }

 private:
  enum class Flow : std::uint8_t { on, break_loop, next_round };

  // One run of a loop: what it iterates over, its position, and its depth of recursion.
  struct LoopRun {
    const Statement& statement;
    Scope& scope;
    std::int64_t depth = 0;
  };

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

  Scope globals_;
  int macros_ = 0;
};

}  // namespace tril::chat
