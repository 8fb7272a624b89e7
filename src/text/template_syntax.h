// A chat template's source to a tree: the part of the Jinja language [jinja.palletsprojects.com] that chat templates
// use, as `transformers` sets it up (trim_blocks, lstrip_blocks, loop controls). What lies beyond is refused by name.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/template_value.h"

namespace tril::chat {

// ---- Words of the language

struct Token {
  enum Kind : std::uint8_t {
    text,         ///< outside of {{ }} and {% %}
    print_begin,  ///< {{
    print_end,
    block_begin,  ///< {%
    block_end,
    name,
    string,
    integer,
    real,
    sign,  ///< an operator, a bracket, a comma
    end,
  } kind = end;
  std::string value;
  int line = 1;
};

/// @throws Error naming `where` and the line
std::vector<Token> read_tokens(std::string_view source, const std::string& where);

// ---- Trees

struct Expression;
using ExpressionPtr = std::unique_ptr<const Expression>;

struct Expression {
  enum Kind : std::uint8_t {
    constant,     ///< value
    variable,     ///< name
    list,         ///< parts; name: "tuple" where they stand without square brackets
    dict,         ///< parts: key, value, key, value
    attribute,    ///< parts[0].name
    item,         ///< parts[0][parts[1]]
    slice,        ///< parts[0][parts[1]:parts[2]:parts[3]], each of the last three may be null
    call,         ///< parts[0](parts[1..], named)
    filter,       ///< parts[0] | name(parts[1..], named)
    test,         ///< parts[0] is name(parts[1..])
    unary,        ///< name: - + not
    binary,       ///< name: + - * / // % ** ~ and or
    compare,      ///< parts[0] operators[0] parts[1] operators[1] parts[2] ...
    conditional,  ///< parts[1] if parts[0] else parts[2], which may be null
  } kind = constant;
  int line = 1;
  int height = 1;  ///< of the tree
  std::string name;
  Value value;
  std::vector<ExpressionPtr> parts;
  std::vector<std::pair<std::string, ExpressionPtr>> named;
  std::vector<std::string> operators;
};
inline constexpr int tallest_expression = 150;  ///< so that whoever walks down needs a bounded stack

/// What is assigned to: one name, several, or a namespace's member ("ns.x").
struct Target {
  std::vector<std::string> names;
  std::string member;
  bool unpacks = false;  ///< into several names, or a lone one with a comma
};

struct Statement;
using Block = std::vector<Statement>;

struct Statement {
  enum Kind : std::uint8_t {
    output,  ///< text
    print,   ///< expression
    if_,     ///< expression, body, otherwise
    for_,    ///< target, expression, condition, body, otherwise
    set,     ///< target, expression; or body where there is none
    macro,   ///< text: its name; target.names: parameters, the last of them with defaults; body
    filter,  ///< a filter applied to what the body prints; expression: the filter, around nothing
    plain,   ///< body, as it stands: {% generation %}
    break_,
    continue_,
  } kind = output;
  int line = 1;
  std::string text;
  Target target;
  ExpressionPtr expression, condition;
  std::vector<ExpressionPtr> defaults;
  Block body, otherwise;
};

/// @throws Error naming `where` and the line for what is no template, and for what is not supported, by its name
Block parse_template(std::string_view source, const std::string& where);

}  // namespace tril::chat
