// What + and its like make of values in a chat template: Python's sums, products and quotients.
#pragma once

#include <string>
#include <string_view>

#include "chat/template_arguments.h"

namespace tril::chat {

/// @throws Error where a value is undefined, saying what it therefore is not
void check_defined(const Value& value, std::string_view what);

/// @param op  - + not
Value unary(const std::string& op, const Value& value);
/// @param op  + - * / // % ** ~
Value binary(const std::string& op, const Value& a, const Value& b, Budget& budget);

/// @param op  == != < <= > >= in, not in
bool compares(std::string_view op, const Value& a, const Value& b, Budget& budget);

}  // namespace tril::chat
