#include "chat/template_parser.h"

#include <algorithm>

#include "base/error.h"
#include "base/printable.h"

namespace tril::chat {

Block parse_template(std::string_view source, const std::string& where) {
  return Parser(read_tokens(source, where), where).parse();
}

Block Parser::parse() {
  Block block = parse_block({});
  if (now().kind != Token::end) refuse("the template continues after its end");
  return block;
}

// Statements up to a tag of one of these names, which is not consumed (except its {%), or to the end.
Block Parser::parse_block(std::initializer_list<std::string_view> until) {
  const Deeper deeper = go_deeper();
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

// The body after a tag, up to and including its end tag.
Block Parser::parse_body(std::string_view end) {
  const Sometimes always(*this, false);
  expect_block_end();
  Block body = parse_block({end});
  end_tag(end);
  return body;
}

Statement Parser::parse_print() {
  Statement s{.kind = Statement::print, .line = now().line};
  ++at_;
  s.expression = parse_tuple();
  if (now().kind != Token::print_end) refuse(fmt::format("expected \"}}}}\", got \"{}\"", shown()));
  ++at_;
  return s;
}

Statement Parser::parse_statement() {
  const int line = now().line;
  const std::string tag = take_name();
  Statement s = parse_tag(tag);
  s.line = line;
  return s;
}

Statement Parser::parse_tag(const std::string& tag) {
  if (tag == "if") return parse_if();
  if (tag == "break" || tag == "continue") {
    if (loops_ == 0) refuse(fmt::format("{{% {} %}} is outside a loop", tag));
    expect_block_end();
    return {.kind = tag == "break" ? Statement::break_ : Statement::continue_};
  }
  if (tag == "for") return parse_for();
  if (tag == "set") return parse_set();
  if (tag == "with") return parse_with();
  if (tag == "macro") return parse_macro();
  if (tag == "call") return parse_call_block();
  if (tag == "filter") return parse_filter_block();
  if (tag == "generation") return parse_generation();
  --at_;
  refuse(fmt::format("{{% {} %}} is not supported", printable(tag)),
         "supported tags: for, if, set, with, macro, call, filter, generation, break, continue, raw");
}

void Parser::end_tag(std::string_view tag) {
  if (!skip_name(tag)) refuse(fmt::format("expected \"{}\", got \"{}\"", tag, shown()));
  expect_block_end();
}

Statement Parser::parse_if() {
  const Deeper deeper = go_deeper();
  const Sometimes maybe(*this, true);
  Statement s{.kind = Statement::if_, .line = now().line};
  s.expression = parse_tuple(Conditions::no);
  expect_block_end();
  s.body = parse_block({"elif", "else", "endif"});
  if (skip_name("elif")) {
    s.otherwise.push_back(parse_if());  // which consumes the endif
    return s;
  }
  if (skip_name("else")) {
    expect_block_end();
    s.otherwise = parse_block({"endif"});
  }
  end_tag("endif");
  return s;
}

Statement Parser::parse_for() {
  Statement s{.kind = Statement::for_};
  s.target = parse_target();
  if (!skip_name("in")) refuse(fmt::format("expected \"in\", got \"{}\"", shown()));
  s.expression = parse_tuple(Conditions::no);
  const Sometimes always(*this, false);
  if (skip_name("if")) s.condition = parse_expression();
  s.recursive = skip_name("recursive");
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

Statement Parser::parse_set() {
  Statement s{.kind = Statement::set};
  s.target = parse_target();
  if (skip_sign("=")) {
    s.expression = parse_tuple();
    expect_block_end();
    return s;
  }
  if (s.target.unpacks) refuse(fmt::format("expected \"=\", got \"{}\"", shown()));
  if (is_sign("|")) s.filter = parse_filters(nullptr, false);
  s.body = parse_body("endset");
  return s;
}

Statement Parser::parse_with() {
  Statement s{.kind = Statement::with};
  while (now().kind != Token::block_end) {
    if (!s.settings.empty()) expect_sign(",");
    Target target = parse_target_part();
    expect_sign("=");
    s.settings.emplace_back(std::move(target), parse_expression());
  }
  s.body = parse_body("endwith");
  return s;
}

void Parser::parse_parameters(Macro& macro) {
  expect_sign("(");
  while (!skip_sign(")")) {
    if (!macro.parameters.empty()) expect_sign(",");
    macro.parameters.push_back(take_name());
    if (skip_sign("="))
      macro.defaults.push_back(parse_expression());
    else if (!macro.defaults.empty())
      refuse("a parameter without a default follows one with a default");
  }
}

void Parser::parse_macro_body(Macro& macro, std::string_view end) {
  const int loops = std::exchange(loops_, 0);
  macros_.push_back(&macro);
  macro.body = parse_body(end);
  macros_.pop_back();
  loops_ = loops;
}

Statement Parser::parse_macro() {
  const Sometimes always(*this, false);
  auto macro = std::make_shared<Macro>();
  macro->name = take_name();
  parse_parameters(*macro);
  parse_macro_body(*macro, "endmacro");
  Statement s{.kind = Statement::macro_};
  s.macro = std::move(macro);
  return s;
}

Statement Parser::parse_call_block() {
  auto caller = std::make_shared<Macro>();
  caller->name = "caller";
  if (is_sign("(")) parse_parameters(*caller);
  Statement s{.kind = Statement::call};
  s.expression = parse_expression();
  if (s.expression->kind != Expression::call) refuse("{% call %} takes a call");
  parse_macro_body(*caller, "endcall");
  s.macro = std::move(caller);
  return s;
}

Statement Parser::parse_filter_block() {
  const Sometimes always(*this, false);
  Statement s{.kind = Statement::filter_};
  s.filter = parse_filters(nullptr, true);
  s.body = parse_body("endfilter");
  return s;
}

Statement Parser::parse_generation() {
  const int loops = std::exchange(loops_, 0);
  Statement s{.kind = Statement::generation, .body = parse_body("endgeneration")};
  loops_ = loops;
  return s;
}

// One name, a namespace's member, or several of these.
Target Parser::parse_target() {
  Target first = parse_target_part();
  if (!is_sign(",")) return first;
  Target all;
  all.unpacks = true;
  all.parts.push_back(std::move(first));
  while (skip_sign(",")) {
    if (is_name("in") || is_sign(")")) break;  // a trailing comma
    all.parts.push_back(parse_target_part());
  }
  return all;
}

Target Parser::parse_target_part() {
  const Deeper deeper = go_deeper();
  Target target;
  if (skip_sign("(")) {
    target = parse_target();
    expect_sign(")");
    return target;
  }
  target.name = take_name();
  if (is_one_of(target.name, {"true", "false", "none", "True", "False", "None", "loop"}))
    refuse(fmt::format("\"{}\" cannot be set", target.name));
  if (skip_sign(".")) target.member = take_name();
  return target;
}

}  // namespace tril::chat
