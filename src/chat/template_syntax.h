// Parses a chat template's source: the Jinja language [jinja.palletsprojects.com] as `transformers` configures it
// (trim_blocks, lstrip_blocks, loop controls), except statements that read other templates, which are refused.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "chat/template_value.h"

namespace tril::chat {

// ---- Tokens

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
    list,         ///< parts; name: "tuple" if written without square brackets
    dict,         ///< parts: key, value, key, value
    attribute,    ///< parts[0].name
    item,         ///< parts[0][parts[1]]
    slice,        ///< parts[0][parts[1]:parts[2]:parts[3]], each of the last three may be null
    call,         ///< parts[0](parts[1..], *list, named, **mapping)
    filter,       ///< parts[0] | name(like a call); parts[0] is null in a filter block
    test,         ///< parts[0] is name(like a call)
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
  ExpressionPtr list_of_arguments, mapping_of_arguments;  ///< may be null
  std::vector<std::string> operators;
};
inline constexpr int tallest_expression = 150;  ///< bounds the stack that a walk of the tree needs

/// The target of an assignment: a name, a namespace's member ("ns.x"), or several of these, possibly nested.
struct Target {
  std::string name, member;
  bool unpacks = false;  ///< into `parts`
  std::vector<Target> parts;
};

struct Statement;
using Block = std::vector<Statement>;

/// The definition in {% macro %}, and the caller that {% call %} passes.
struct Macro {
  std::string name;
  std::vector<std::string> parameters;
  std::vector<ExpressionPtr> defaults;  ///< of the last parameters
  /// Whether the body uses varargs, kwargs and caller.
  bool takes_more = false, takes_named = false, takes_caller = false;
  Block body;
};

struct Statement {
  enum Kind : std::uint8_t {
    output,      ///< text
    print,       ///< expression
    if_,         ///< expression, body, otherwise
    for_,        ///< target, expression, condition, body, otherwise
    set,         ///< target, expression; or target, body and perhaps a filter of it
    with,        ///< settings, body
    macro_,      ///< macro
    call,        ///< expression: a call, to which macro is passed
    filter_,     ///< filter, applied to what the body prints
    generation,  ///< body
    break_,
    continue_,
  } kind = output;
  int line = 1;
  bool recursive = false;  ///< a loop that may call itself
  std::string text;
  Target target;
  ExpressionPtr expression, condition, filter;
  std::vector<std::pair<Target, ExpressionPtr>> settings;
  std::shared_ptr<const Macro> macro;
  Block body, otherwise;
};

/// @throws Error naming `where` and the line for a syntax error, and naming what is not supported
Block parse_template(std::string_view source, const std::string& where);

}  // namespace tril::chat
