// Parses tokens into a tree: expressions. The levels of precedence are Jinja's, from the loosest to the tightest:
//   a if b else c    or    and    not    == < in ...    + -    ~    * / // %    **    - +    . [] ()    | is
#pragma once

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "chat/template_depth.h"
#include "chat/template_syntax.h"

namespace tril::chat {

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words);

// The parser's position among the tokens, and the expressions that it reads there.
class ExpressionParser {
 protected:
  ExpressionParser(std::vector<Token> tokens, const std::string& where) : tokens_(std::move(tokens)), where_(where) {}

  Deeper go_deeper();

  // Whether the code that follows may never run (it is in an if, and in no loop or macro within it): an unknown filter
  // or test is then an error only when it runs. This is Jinja's rule.
  class Sometimes {
   public:
    Sometimes(ExpressionParser& parser, bool sometimes) : held_(parser.sometimes_), before_(parser.sometimes_) {
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
  int depth_ = 0;
  bool sometimes_ = false;
  std::vector<Macro*> macros_;  // the enclosing ones
};

}  // namespace tril::chat
