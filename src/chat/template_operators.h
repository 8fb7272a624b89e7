// The operators of a chat template: Python's arithmetic and comparisons.
#pragma once

#include <string>
#include <string_view>

#include "chat/template_arguments.h"

namespace tril::chat {

/// @throws Error if a value is undefined; `what` says what was expected
void check_defined(const Value& value, std::string_view what);

/// @param op  - + not
Value unary(const std::string& op, const Value& value);
/// @param op  + - * / // % ** ~
Value binary(const std::string& op, const Value& a, const Value& b, Budget& budget);

/// @param op  == != < <= > >= in, not in
bool compares(std::string_view op, const Value& a, const Value& b, Budget& budget);

}  // namespace tril::chat
