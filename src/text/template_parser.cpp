// Words to a tree, by recursive descent; the levels of an expression are Jinja's, from the loosest to the tightest:
//   a if b else c    or    and    not    == < in ...    + -    ~    * / // %    **    - +    . [] ()    | is
#include <algorithm>
#include <array>
#include <charconv>
#include <initializer_list>

#include "base/error.h"
#include "base/printable.h"
#include "text/template_syntax.h"

namespace tril::chat {
namespace {

constexpr int deepest = 50;  // expressions and blocks within each other

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

class Parser {
 public:
  Parser(std::vector<Token> tokens, const std::string& where) : tokens_(std::move(tokens)), where_(where) {}

  Block parse() {
    Block block = parse_block({});
    if (now().kind != Token::end) refuse("the template goes on behind its end");
    return block;
  }

 private:
  // Counts how deep the parser is within itself.
  class Deeper {
   public:
    explicit Deeper(Parser& parser) : depth_(parser.depth_) {
      if (++depth_ > deepest) {
        --depth_;
        parser.refuse(fmt::format("it is nested more than {} deep", deepest));
      }
    }
    ~Deeper() { --depth_; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;

   private:
    int& depth_;
  };

  const Token& now() const { return tokens_[at_]; }
  const Token& ahead() const { return tokens_[std::min(at_ + 1, tokens_.size() - 1)]; }
  [[noreturn]] void refuse(const std::string& what, const std::string& hint = {}) const {
    fail(fmt::format("{}: line {}", where_, now().line), what, hint);
  }
  std::string shown() const {
    switch (now().kind) {
      case Token::print_end:
        return "}}";
      case Token::block_end:
        return "%}";
      case Token::end:
        return "the end";
      default:
        return printable(now().value);
    }
  }
  bool is_sign(std::string_view sign) const { return now().kind == Token::sign && now().value == sign; }
  bool is_name(std::string_view name) const { return now().kind == Token::name && now().value == name; }
  bool skip_sign(std::string_view sign) { return is_sign(sign) && (++at_, true); }
  bool skip_name(std::string_view name) { return is_name(name) && (++at_, true); }
  void expect_sign(std::string_view sign) {
    if (!skip_sign(sign)) refuse(fmt::format("expected \"{}\", got \"{}\"", sign, shown()));
  }
  std::string take_name() {
    if (now().kind != Token::name) refuse(fmt::format("expected a name, got \"{}\"", shown()));
    return tokens_[at_++].value;
  }
  void expect_block_end() {
    if (now().kind != Token::block_end) refuse(fmt::format("expected \"%}}\", got \"{}\"", shown()));
    ++at_;
  }

  // ---- Statements

  // Statements up to a tag of one of these names, which is left there (its {% is taken), or to the end.
  Block parse_block(std::initializer_list<std::string_view> until) {
    const Deeper deeper(*this);
    Block block;
    while (now().kind != Token::end) {
      if (now().kind == Token::text) {
        Statement s{.kind = Statement::output, .line = now().line, .text = now().value};
        ++at_;
        block.push_back(std::move(s));
      } else if (now().kind == Token::print_begin) {
        block.push_back(parse_print());
      } else {
        ++at_;  // {%
        if (now().kind == Token::name && is_one_of(now().value, until)) return block;
        block.push_back(parse_statement());
      }
    }
    if (until.size() > 0) refuse(fmt::format("{{% {} %}} is missing", *(until.end() - 1)));
    return block;
  }

  Statement parse_print() {
    Statement s{.kind = Statement::print, .line = now().line};
    ++at_;
    s.expression = parse_tuple();
    if (now().kind != Token::print_end) refuse(fmt::format("expected \"}}}}\", got \"{}\"", shown()));
    ++at_;
    return s;
  }

  Statement parse_statement() {
    const int line = now().line;
    const std::string tag = take_name();
    Statement s = parse_tag(tag);
    s.line = line;
    return s;
  }

  Statement parse_tag(const std::string& tag) {
    if (tag == "if") return parse_if();
    if (tag == "for") return parse_for();
    if (tag == "set") return parse_set();
    if (tag == "macro") return parse_macro();
    if (tag == "filter") return parse_filter_block();
    if (tag == "generation") {
      expect_block_end();
      Statement s{.kind = Statement::plain, .body = parse_block({"endgeneration"})};
      end_tag("endgeneration");
      return s;
    }
    if (tag == "break" || tag == "continue") {
      if (loops_ == 0) refuse(fmt::format("{{% {} %}} stands outside of a loop", tag));
      expect_block_end();
      return {.kind = tag == "break" ? Statement::break_ : Statement::continue_};
    }
    refuse(fmt::format("{{% {} %}} is not supported", printable(tag)),
           "for, if, set, macro, filter, generation, break, continue and raw are");
  }

  void end_tag(std::string_view tag) {
    if (!skip_name(tag)) refuse(fmt::format("expected \"{}\", got \"{}\"", tag, shown()));
    expect_block_end();
  }

  Statement parse_if() {
    const Deeper deeper(*this);
    Statement s{.kind = Statement::if_, .line = now().line};
    s.expression = parse_tuple();
    expect_block_end();
    s.body = parse_block({"elif", "else", "endif"});
    if (skip_name("elif")) {
      s.otherwise.push_back(parse_if());  // it takes the endif
      return s;
    }
    if (skip_name("else")) {
      expect_block_end();
      s.otherwise = parse_block({"endif"});
    }
    end_tag("endif");
    return s;
  }

  Statement parse_for() {
    Statement s{.kind = Statement::for_};
    s.target = parse_target();
    if (!skip_name("in")) refuse(fmt::format("expected \"in\", got \"{}\"", shown()));
    s.expression = parse_tuple(Conditions::no);
    if (skip_name("if")) s.condition = parse_expression();
    if (is_name("recursive")) refuse("a recursive loop is not supported", "a macro that calls itself is");
    expect_block_end();
    ++loops_;
    s.body = parse_block({"else", "endfor"});
    --loops_;
    if (skip_name("else")) {
      expect_block_end();
      s.otherwise = parse_block({"endfor"});
    }
    end_tag("endfor");
    return s;
  }

  Statement parse_set() {
    Statement s{.kind = Statement::set};
    s.target = parse_target();
    if (skip_sign("=")) {
      s.expression = parse_tuple();
      expect_block_end();
      return s;
    }
    if (is_sign("|")) refuse("{% set ... | filter %} is not supported", "filter what is set later");
    expect_block_end();
    s.body = parse_block({"endset"});
    end_tag("endset");
    return s;
  }

  Statement parse_macro() {
    Statement s{.kind = Statement::macro};
    s.text = take_name();
    expect_sign("(");
    while (!skip_sign(")")) {
      if (!s.target.names.empty()) expect_sign(",");
      s.target.names.push_back(take_name());
      if (skip_sign("="))
        s.defaults.push_back(parse_expression());
      else if (!s.defaults.empty())
        refuse("a parameter without a default stands behind one with a default");
    }
    expect_block_end();
    const int loops = std::exchange(loops_, 0);
    macros_.push_back(s.target.names);
    s.body = parse_block({"endmacro"});
    macros_.pop_back();
    loops_ = loops;
    end_tag("endmacro");
    return s;
  }

  Statement parse_filter_block() {
    Statement s{.kind = Statement::filter};
    s.expression = parse_filters(nullptr, true);
    expect_block_end();
    s.body = parse_block({"endfilter"});
    end_tag("endfilter");
    return s;
  }

  Target parse_target() {
    Target target;
    const bool bracket = skip_sign("(");
    do {
      if (target.unpacks && now().kind != Token::name) break;  // a comma at the end
      target.names.push_back(take_name());
      if (target.names.size() == 1 && skip_sign(".")) {
        target.member = take_name();
        return target;
      }
    } while (skip_sign(",") && (target.unpacks = true));
    if (bracket) expect_sign(")");
    for (const std::string& name : target.names)
      if (is_one_of(name, {"true", "false", "none", "True", "False", "None", "loop"}))
        refuse(fmt::format("\"{}\" cannot be set", name));
    return target;
  }

  // ---- Expressions

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

  // A tree whose parts are all there.
  ExpressionPtr finished(std::unique_ptr<Expression> e) const {
    for (const ExpressionPtr& part : e->parts)
      if (part) e->height = std::max(e->height, 1 + part->height);
    for (const auto& [name, part] : e->named) e->height = std::max(e->height, 1 + part->height);
    if (e->height > tallest_expression) refuse(fmt::format("an expression is more than {} deep", tallest_expression));
    return e;
  }

  // One expression, or several with commas, which are a list.
  ExpressionPtr parse_tuple(Conditions conditions = Conditions::yes) {
    const int line = now().line;
    ExpressionPtr first = conditions == Conditions::yes ? parse_expression() : parse_or();
    if (!is_sign(",")) return first;
    auto tuple = std::make_unique<Expression>();
    tuple->kind = Expression::list;
    tuple->name = "tuple";
    tuple->line = line;
    tuple->parts.push_back(std::move(first));
    while (skip_sign(",")) {
      if (ends_expression()) break;
      tuple->parts.push_back(conditions == Conditions::yes ? parse_expression() : parse_or());
    }
    return finished(std::move(tuple));
  }

  bool ends_expression() const {
    return now().kind == Token::print_end || now().kind == Token::block_end || is_sign(")") || is_sign("=") ||
           is_name("in");
  }

  ExpressionPtr parse_expression() {
    const Deeper deeper(*this);
    ExpressionPtr value = parse_or();
    while (is_name("if")) {
      const int line = now().line;
      ++at_;
      ExpressionPtr condition = parse_or(), otherwise;
      if (skip_name("else")) otherwise = parse_expression();
      value = make(Expression::conditional, line, "", std::move(condition), std::move(value), std::move(otherwise));
    }
    return value;
  }

  template <class Next>
  ExpressionPtr parse_binary(std::initializer_list<std::string_view> operators, const Next& next) {
    ExpressionPtr left = next();
    while ((now().kind == Token::sign || now().kind == Token::name) && is_one_of(now().value, operators)) {
      const int line = now().line;
      std::string op = tokens_[at_++].value;
      ExpressionPtr right = next();
      left = make(Expression::binary, line, std::move(op), std::move(left), std::move(right));
    }
    return left;
  }

  ExpressionPtr parse_or() {
    return parse_binary({"or"}, [this] { return parse_and(); });
  }
  ExpressionPtr parse_and() {
    return parse_binary({"and"}, [this] { return parse_not(); });
  }
  ExpressionPtr parse_not() {
    const Deeper deeper(*this);
    const int line = now().line;
    if (skip_name("not")) return make(Expression::unary, line, "not", parse_not());
    return parse_compare();
  }

  ExpressionPtr parse_compare() {
    ExpressionPtr first = parse_sum();
    std::vector<std::string> operators;
    std::vector<ExpressionPtr> parts;
    while (true) {
      if (now().kind == Token::sign && is_one_of(now().value, {"==", "!=", "<", "<=", ">", ">="})) {
        operators.push_back(tokens_[at_++].value);
      } else if (skip_name("in")) {
        operators.emplace_back("in");
      } else if (is_name("not") && ahead().kind == Token::name && ahead().value == "in") {
        at_ += 2;
        operators.emplace_back("not in");
      } else {
        break;
      }
      parts.push_back(parse_sum());
    }
    if (operators.empty()) return first;
    auto e = std::make_unique<Expression>();
    e->kind = Expression::compare;
    e->line = first->line;
    e->operators = std::move(operators);
    e->parts.push_back(std::move(first));
    for (ExpressionPtr& part : parts) e->parts.push_back(std::move(part));
    return finished(std::move(e));
  }

  ExpressionPtr parse_sum() {
    return parse_binary({"+", "-"}, [this] { return parse_concatenation(); });
  }
  ExpressionPtr parse_concatenation() {
    return parse_binary({"~"}, [this] { return parse_product(); });
  }
  ExpressionPtr parse_product() {
    return parse_binary({"*", "/", "//", "%"}, [this] { return parse_power(); });
  }
  ExpressionPtr parse_power() {
    return parse_binary({"**"}, [this] { return parse_unary(true); });
  }

  ExpressionPtr parse_unary(bool filters) {
    const Deeper deeper(*this);
    const int line = now().line;
    ExpressionPtr e;
    if (is_sign("-") || is_sign("+")) {
      std::string sign = tokens_[at_++].value;
      e = make(Expression::unary, line, std::move(sign), parse_unary(false));
    } else {
      e = parse_primary();
    }
    e = parse_postfix(std::move(e));
    return filters ? parse_filters(std::move(e), false) : std::move(e);
  }

  ExpressionPtr constant(int line, Value value) {
    auto e = std::make_unique<Expression>();
    e->line = line;
    e->value = std::move(value);
    return e;
  }

  ExpressionPtr parse_primary() {
    const Token token = now();
    switch (token.kind) {
      case Token::string: {
        std::string text;
        while (now().kind == Token::string) text += tokens_[at_++].value;
        return constant(token.line, Value(std::move(text)));
      }
      case Token::integer:
      case Token::real:
        ++at_;
        return constant(token.line, number(token));
      case Token::name:
        ++at_;
        if (is_one_of(token.value, {"true", "True"})) return constant(token.line, Value(true));
        if (is_one_of(token.value, {"false", "False"})) return constant(token.line, Value(false));
        if (is_one_of(token.value, {"none", "None"})) return constant(token.line, Value(None{}));
        check_variable(token.value);
        return make(Expression::variable, token.line, token.value);
      case Token::sign:
        if (skip_sign("(")) {
          if (skip_sign(")")) return constant(token.line, Value::tuple({}));
          ExpressionPtr inside = parse_tuple();
          expect_sign(")");
          return inside;
        }
        if (skip_sign("[")) return parse_list(token.line);
        if (skip_sign("{")) return parse_dict(token.line);
        break;
      default:
        break;
    }
    refuse(fmt::format("expected a value, got \"{}\"", shown()));
  }

  // What Jinja puts into a macro whose body asks for it.
  void check_variable(const std::string& name) const {
    if (macros_.empty() || !is_one_of(name, {"varargs", "kwargs", "caller"})) return;
    for (const std::vector<std::string>& parameters : macros_)
      if (std::find(parameters.begin(), parameters.end(), name) != parameters.end()) return;
    refuse(fmt::format("\"{}\" in a macro is not supported", name), "name its parameters");
  }

  Value number(const Token& token) const {
    const char* end = token.value.data() + token.value.size();
    if (token.kind == Token::integer) {
      std::int64_t value = 0;
      if (std::from_chars(token.value.data(), end, value).ec != std::errc{}) refuse("a number is too large");
      return value;
    }
    double value = 0;
    if (std::from_chars(token.value.data(), end, value).ec != std::errc{}) refuse("a number is too large");
    return value;
  }

  ExpressionPtr parse_list(int line) {
    auto e = std::make_unique<Expression>();
    e->kind = Expression::list;
    e->line = line;
    while (!skip_sign("]")) {
      if (!e->parts.empty()) expect_sign(",");
      if (skip_sign("]")) break;
      e->parts.push_back(parse_expression());
    }
    return finished(std::move(e));
  }

  ExpressionPtr parse_dict(int line) {
    auto e = std::make_unique<Expression>();
    e->kind = Expression::dict;
    e->line = line;
    while (!skip_sign("}")) {
      if (!e->parts.empty()) expect_sign(",");
      if (skip_sign("}")) break;
      e->parts.push_back(parse_expression());
      expect_sign(":");
      e->parts.push_back(parse_expression());
    }
    return finished(std::move(e));
  }

  ExpressionPtr parse_postfix(ExpressionPtr e) {
    while (true) {
      const int line = now().line;
      if (skip_sign(".")) {
        if (now().kind == Token::integer)
          e = make(Expression::item, line, "", std::move(e), constant(line, number(tokens_[at_++])));
        else
          e = make(Expression::attribute, line, take_name(), std::move(e));
      } else if (skip_sign("[")) {
        e = parse_subscript(std::move(e), line);
      } else if (skip_sign("(")) {
        auto call = std::make_unique<Expression>();
        call->kind = Expression::call;
        call->line = line;
        call->parts.push_back(std::move(e));
        parse_arguments(*call);
        e = finished(std::move(call));
      } else {
        return e;
      }
    }
  }

  ExpressionPtr parse_subscript(ExpressionPtr e, int line) {
    ExpressionPtr from, to, step;
    if (!is_sign(":")) from = parse_expression();
    if (skip_sign("]")) return make(Expression::item, line, "", std::move(e), std::move(from));
    if (!is_sign(":")) refuse(fmt::format("expected \"]\", got \"{}\"", shown()));
    ++at_;
    if (!is_sign("]") && !is_sign(":")) to = parse_expression();
    if (skip_sign(":") && !is_sign("]")) step = parse_expression();
    expect_sign("]");
    return make(Expression::slice, line, "", std::move(e), std::move(from), std::move(to), std::move(step));
  }

  // Behind "(".
  void parse_arguments(Expression& call) {
    bool first = true;
    while (!skip_sign(")")) {
      if (!first) expect_sign(",");
      first = false;
      if (skip_sign(")")) return;
      if (is_sign("*") || is_sign("**")) refuse("arguments from a list or a mapping (*, **) are not supported");
      if (now().kind == Token::name && ahead().kind == Token::sign && ahead().value == "=") {
        std::string name = take_name();
        ++at_;
        call.named.emplace_back(std::move(name), parse_expression());
      } else {
        if (!call.named.empty()) refuse("an argument without a name stands behind one with a name");
        call.parts.push_back(parse_expression());
      }
    }
  }

  // Filters and tests behind an expression; with `begun` the first filter's name comes without its sign.
  ExpressionPtr parse_filters(ExpressionPtr e, bool begun) {
    while (true) {
      const int line = now().line;
      if (begun || skip_sign("|")) {
        begun = false;
        auto filter = std::make_unique<Expression>();
        filter->kind = Expression::filter;
        filter->line = line;
        filter->name = take_name();
        filter->parts.push_back(std::move(e));
        if (skip_sign("(")) parse_arguments(*filter);
        e = finished(std::move(filter));
      } else if (skip_name("is")) {
        e = parse_test(std::move(e), line);
      } else if (is_sign("(") && e) {
        e = parse_postfix(std::move(e));
      } else {
        return e;
      }
    }
  }

  ExpressionPtr parse_test(ExpressionPtr e, int line) {
    const bool negated = skip_name("not");
    auto test = std::make_unique<Expression>();
    test->kind = Expression::test;
    test->line = line;
    test->name = take_name();
    test->parts.push_back(std::move(e));
    const Token& next = now();
    const bool operand =
        next.kind == Token::string || next.kind == Token::integer || next.kind == Token::real || is_sign("[") ||
        is_sign("{") ||
        (next.kind == Token::name && !is_one_of(next.value, {"else", "or", "and", "if", "is", "in", "not"}));
    if (skip_sign("("))
      parse_arguments(*test);
    else if (operand)
      test->parts.push_back(parse_postfix(parse_primary()));
    ExpressionPtr result = finished(std::move(test));
    return negated ? make(Expression::unary, line, "not", std::move(result)) : std::move(result);
  }

  std::vector<Token> tokens_;
  const std::string& where_;
  std::size_t at_ = 0;
  int depth_ = 0, loops_ = 0;
  std::vector<std::vector<std::string>> macros_;  // the parameters of those around
};

}  // namespace

Block parse_template(std::string_view source, const std::string& where) {
  return Parser(read_tokens(source, where), where).parse();
}

}  // namespace tril::chat
