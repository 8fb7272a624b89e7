// Parses a chat template's tokens: shared by the parser's two files.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "chat/template_syntax.h"

namespace tril::chat {

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words);

class Parser {
 public:
  Parser(std::vector<Token> tokens, const std::string& where) : tokens_(std::move(tokens)), where_(where) {}

  Block parse();

 private:
  // Counts the parser's depth of recursion.
  class Deeper {
   public:
    explicit Deeper(Parser& parser);
    ~Deeper() { --depth_; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;

   private:
    int& depth_;
  };

  // Whether the code that follows may never run (it is in an if, and in no loop or macro within it): an unknown filter
  // or test is then an error only when it runs. This is Jinja's rule.
  class Sometimes {
   public:
    Sometimes(Parser& parser, bool sometimes) : held_(parser.sometimes_), before_(parser.sometimes_) {
      held_ = sometimes;
    }
    ~Sometimes() { held_ = before_; }
    Sometimes(const Sometimes&) = delete;
    Sometimes& operator=(const Sometimes&) = delete;

   private:
    bool& held_;
    bool before_;
  };

  const Token& now() const { return tokens_[at_]; }
  const Token& ahead() const { return tokens_[std::min(at_ + 1, tokens_.size() - 1)]; }
  [[noreturn]] void refuse(const std::string& what, const std::string& hint = {}) const;
  std::string shown() const;
  bool is_sign(std::string_view sign) const { return now().kind == Token::sign && now().value == sign; }
  bool is_name(std::string_view name) const { return now().kind == Token::name && now().value == name; }
  bool skip_sign(std::string_view sign) { return is_sign(sign) && (++at_, true); }
  bool skip_name(std::string_view name) { return is_name(name) && (++at_, true); }
  void expect_sign(std::string_view sign);
  std::string take_name();
  void expect_block_end();

  // ---- Statements (template_parser.cpp)

  Block parse_block(std::initializer_list<std::string_view> until);
  Block parse_body(std::string_view end);
  Statement parse_print();
  Statement parse_statement();
  Statement parse_tag(const std::string& tag);
  void end_tag(std::string_view tag);
  Statement parse_if();
  Statement parse_for();
  Statement parse_set();
  Statement parse_with();
  Statement parse_macro();
  Statement parse_call_block();
  Statement parse_filter_block();
  Statement parse_generation();
  void parse_parameters(Macro& macro);
  void parse_macro_body(Macro& macro, std::string_view end);
  Target parse_target();
  Target parse_target_part();

  // ---- Expressions (template_expression_parser.cpp)

  enum class Conditions { yes, no };  // whether "a if b" may follow

  template <class... Parts>
  ExpressionPtr make(Expression::Kind kind, int line, std::string name, Parts... parts) const {
    auto e = std::make_unique<Expression>();
    e->kind = kind;
    e->line = line;
    e->name = std::move(name);
    (e->parts.push_back(std::move(parts)), ...);
    return finished(std::move(e));
  }
  ExpressionPtr finished(std::unique_ptr<Expression> e) const;
  ExpressionPtr parse_tuple(Conditions conditions = Conditions::yes);
  bool ends_expression() const;
  bool has_condition() const;
  ExpressionPtr parse_expression();
  template <class Next>
  ExpressionPtr parse_binary(std::initializer_list<std::string_view> operators, const Next& next);
  ExpressionPtr parse_or();
  ExpressionPtr parse_and();
  ExpressionPtr parse_not();
  ExpressionPtr parse_compare();
  ExpressionPtr parse_sum();
  ExpressionPtr parse_concatenation();
  ExpressionPtr parse_product();
  ExpressionPtr parse_power();
  ExpressionPtr parse_unary(bool filters);
  ExpressionPtr constant(int line, Value value);
  ExpressionPtr parse_primary();
  void note_variable(const std::string& name);
  Value number(const Token& token) const;
  ExpressionPtr parse_list(int line);
  ExpressionPtr parse_dict(int line);
  ExpressionPtr parse_postfix(ExpressionPtr e);
  ExpressionPtr parse_call(ExpressionPtr e, int line);
  ExpressionPtr parse_subscript(ExpressionPtr e, int line);
  void parse_arguments(Expression& call);
  ExpressionPtr parse_filters(ExpressionPtr e, bool begun);
  ExpressionPtr parse_test(ExpressionPtr e, int line);

  std::vector<Token> tokens_;
  const std::string& where_;
  std::size_t at_ = 0;
  int depth_ = 0, loops_ = 0;
  bool sometimes_ = false;
  std::vector<Macro*> macros_;  // the enclosing ones
};

}  // namespace tril::chat
