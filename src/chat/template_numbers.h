// Filters that return numbers, with the semantics of Python's int(), float() and round().
#pragma once

#include "chat/template_arguments.h"

namespace tril::chat {

Value rounded(const Value& value, const Arguments& a);                 ///< round(precision, method)
Value to_int(const Value& value, const Arguments& a, Budget& budget);  ///< int(default, base)
Value to_float(const Value& value, const Arguments& a, Budget& budget);
Value absolute(const Value& value);
Value sum_of(const List& list, const Value& start, Budget& budget);

/// The filter filesizeformat(binary).
std::string file_size(const Value& value, bool binary, Budget& budget);

}  // namespace tril::chat
