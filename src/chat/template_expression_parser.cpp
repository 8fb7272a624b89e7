#include "chat/template_expression_parser.h"

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "base/printable.h"
#include "chat/template_functions.h"

namespace tril::chat {
namespace {

constexpr int deepest = 100;  // nesting of expressions and blocks

}  // namespace

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

Deeper ExpressionParser::go_deeper() {
  return {depth_, deepest, [this] { refuse(fmt::format("it is nested more than {} deep", deepest)); }};
}

void ExpressionParser::refuse(const std::string& what, const std::string& hint) const {
  fail(fmt::format("{}: line {}", where_, now().line), what, hint);
}

std::string ExpressionParser::shown() const {
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

void ExpressionParser::expect_sign(std::string_view sign) {
  if (!skip_sign(sign)) refuse(fmt::format("expected \"{}\", got \"{}\"", sign, shown()));
}

std::string ExpressionParser::take_name() {
  if (now().kind != Token::name) refuse(fmt::format("expected a name, got \"{}\"", shown()));
  return tokens_[at_++].value;
}

void ExpressionParser::expect_block_end() {
  if (now().kind != Token::block_end) refuse(fmt::format("expected \"%}}\", got \"{}\"", shown()));
  ++at_;
}

// Finishes a node whose parts are complete.
ExpressionPtr ExpressionParser::finished(std::unique_ptr<Expression> e) const {
  const auto add = [&](const ExpressionPtr& part) {
    if (part) e->height = std::max(e->height, 1 + part->height);
  };
  for (const ExpressionPtr& part : e->parts) add(part);
  for (const auto& [name, part] : e->named) add(part);
  add(e->list_of_arguments);
  add(e->mapping_of_arguments);
  if (e->height > tallest_expression)
    refuse(fmt::format("an expression is nested more than {} deep", tallest_expression));
  return e;
}

// One expression, or several separated by commas, which form a tuple.
ExpressionPtr ExpressionParser::parse_tuple(Conditions conditions) {
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

bool ExpressionParser::ends_expression() const {
  return now().kind == Token::print_end || now().kind == Token::block_end || is_sign(")") || is_sign("=") ||
         is_name("in");
}

// Whether "a if b else c" starts here.
bool ExpressionParser::has_condition() const {
  int brackets = 0;
  for (std::size_t i = at_; i < tokens_.size(); ++i) {
    const Token& token = tokens_[i];
    if (token.kind == Token::print_end || token.kind == Token::block_end) return false;
    if (token.kind == Token::name && token.value == "if" && brackets == 0) return true;
    if (token.kind != Token::sign) continue;
    if (is_one_of(token.value, {"(", "[", "{"})) ++brackets;
    if (is_one_of(token.value, {")", "]", "}"}) && --brackets < 0) return false;
    if (token.value == "," && brackets == 0) return false;
  }
  return false;
}

ExpressionPtr ExpressionParser::parse_expression() {
  const Deeper deeper = go_deeper();
  const Sometimes maybe(*this, sometimes_ || has_condition());
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
ExpressionPtr ExpressionParser::parse_binary(std::initializer_list<std::string_view> operators, const Next& next) {
  ExpressionPtr left = next();
  while ((now().kind == Token::sign || now().kind == Token::name) && is_one_of(now().value, operators)) {
    const int line = now().line;
    std::string op = tokens_[at_++].value;
    ExpressionPtr right = next();
    left = make(Expression::binary, line, std::move(op), std::move(left), std::move(right));
  }
  return left;
}

ExpressionPtr ExpressionParser::parse_or() {
  return parse_binary({"or"}, [this] { return parse_and(); });
}
ExpressionPtr ExpressionParser::parse_and() {
  return parse_binary({"and"}, [this] { return parse_not(); });
}
ExpressionPtr ExpressionParser::parse_not() {
  const Deeper deeper = go_deeper();
  const int line = now().line;
  if (skip_name("not")) return make(Expression::unary, line, "not", parse_not());
  return parse_compare();
}

ExpressionPtr ExpressionParser::parse_compare() {
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

ExpressionPtr ExpressionParser::parse_sum() {
  return parse_binary({"+", "-"}, [this] { return parse_concatenation(); });
}
ExpressionPtr ExpressionParser::parse_concatenation() {
  return parse_binary({"~"}, [this] { return parse_product(); });
}
ExpressionPtr ExpressionParser::parse_product() {
  return parse_binary({"*", "/", "//", "%"}, [this] { return parse_power(); });
}
ExpressionPtr ExpressionParser::parse_power() {
  return parse_binary({"**"}, [this] { return parse_unary(true); });
}

ExpressionPtr ExpressionParser::parse_unary(bool filters) {
  const Deeper deeper = go_deeper();
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

ExpressionPtr ExpressionParser::constant(int line, Value value) {
  auto e = std::make_unique<Expression>();
  e->line = line;
  e->value = std::move(value);
  return e;
}

ExpressionPtr ExpressionParser::parse_primary() {
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
      note_variable(token.value);
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

// Jinja's implicit names in a macro: used if the body mentions them, unless a parameter has the name.
void ExpressionParser::note_variable(const std::string& name) {
  for (Macro* macro : macros_) {
    if (std::find(macro->parameters.begin(), macro->parameters.end(), name) != macro->parameters.end()) continue;
    if (name == "varargs") macro->takes_more = true;
    if (name == "kwargs") macro->takes_named = true;
    if (name == "caller") macro->takes_caller = true;
  }
}

Value ExpressionParser::number(const Token& token) const {
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

ExpressionPtr ExpressionParser::parse_list(int line) {
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

ExpressionPtr ExpressionParser::parse_dict(int line) {
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

ExpressionPtr ExpressionParser::parse_postfix(ExpressionPtr e) {
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
      e = parse_call(std::move(e), line);
    } else {
      return e;
    }
  }
}

// Called after "(".
ExpressionPtr ExpressionParser::parse_call(ExpressionPtr e, int line) {
  const std::string name = e->kind == Expression::attribute || e->kind == Expression::variable ? e->name : "";
  if (e->kind == Expression::attribute && is_refused_method(name)) refuse(fmt::format("{}() is not supported", name));
  if (e->kind == Expression::variable && name == "lipsum") refuse("lipsum() is not supported");
  auto call = std::make_unique<Expression>();
  call->kind = Expression::call;
  call->line = line;
  call->parts.push_back(std::move(e));
  parse_arguments(*call);
  return finished(std::move(call));
}

ExpressionPtr ExpressionParser::parse_subscript(ExpressionPtr e, int line) {
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

// Called after "(".
void ExpressionParser::parse_arguments(Expression& call) {
  bool first = true;
  while (!skip_sign(")")) {
    if (!first) expect_sign(",");
    first = false;
    if (skip_sign(")")) return;
    if (call.mapping_of_arguments) refuse("an argument follows a mapping of arguments (**)");
    if (skip_sign("**")) {
      call.mapping_of_arguments = parse_expression();
    } else if (skip_sign("*")) {
      if (call.list_of_arguments) refuse("there are two lists of arguments (*)");
      call.list_of_arguments = parse_expression();
    } else if (now().kind == Token::name && ahead().kind == Token::sign && ahead().value == "=") {
      std::string name = take_name();
      ++at_;
      const auto same = [&](const auto& one) { return one.first == name; };
      if (std::any_of(call.named.begin(), call.named.end(), same))
        refuse(fmt::format("the argument \"{}\" is given twice", name));
      call.named.emplace_back(std::move(name), parse_expression());
    } else {
      if (!call.named.empty() || call.list_of_arguments)
        refuse("an argument without a name follows one with a name, or a list of arguments");
      call.parts.push_back(parse_expression());
    }
  }
}

// Filters and tests after an expression; with `begun` the first filter comes without its "|".
ExpressionPtr ExpressionParser::parse_filters(ExpressionPtr e, bool begun) {
  while (true) {
    const int line = now().line;
    if (begun || skip_sign("|")) {
      begun = false;
      auto filter = std::make_unique<Expression>();
      filter->kind = Expression::filter;
      filter->line = line;
      filter->name = take_name();
      const Known known = knows_filter(filter->name);
      if (known == Known::refused || (known == Known::no && !sometimes_))
        refuse(fmt::format("the filter \"{}\" is not supported", printable(filter->name)));
      filter->parts.push_back(std::move(e));
      if (skip_sign("(")) parse_arguments(*filter);
      e = finished(std::move(filter));
    } else if (e && skip_name("is")) {
      e = parse_test(std::move(e), line);
    } else if (e && skip_sign("(")) {
      e = parse_call(std::move(e), line);
    } else {
      return e;
    }
  }
}

ExpressionPtr ExpressionParser::parse_test(ExpressionPtr e, int line) {
  const bool negated = skip_name("not");
  auto test = std::make_unique<Expression>();
  test->kind = Expression::test;
  test->line = line;
  test->name = take_name();
  if (knows_test(test->name) != Known::yes && !sometimes_)
    refuse(fmt::format("the test \"{}\" is not supported", printable(test->name)));
  test->parts.push_back(std::move(e));
  const Token& next = now();
  const bool operand = next.kind == Token::string || next.kind == Token::integer || next.kind == Token::real ||
                       is_sign("[") || is_sign("{") ||
                       (next.kind == Token::name && !is_one_of(next.value, {"else", "or", "and"}));
  if (is_name("is")) refuse("a test follows another test", "put the first one in parentheses");
  if (skip_sign("("))
    parse_arguments(*test);
  else if (operand)
    test->parts.push_back(parse_postfix(parse_primary()));
  ExpressionPtr result = finished(std::move(test));
  return negated ? make(Expression::unary, line, "not", std::move(result)) : std::move(result);
}

}  // namespace tril::chat
