// Parses tokens into a tree by recursive descent: statements.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "chat/template_expression_parser.h"

namespace tril::chat {

class Parser : private ExpressionParser {
 public:
  Parser(std::vector<Token> tokens, const std::string& where) : ExpressionParser(std::move(tokens), where) {}

  Block parse();

 private:
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

  int loops_ = 0;  // the number of enclosing ones
};

}  // namespace tril::chat
