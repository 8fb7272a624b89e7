// The formats of strings that JSON schema defines.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tril::search {

/// A regular expression of a strict form of the format, one that every validator knows; "" where it is none of the drafts'.
std::string written_format(std::string_view format);
/// One of what validators accept, by the format's RFC: what listed values are held against, beside has_lengths().
std::string accepted_format(std::string_view format);
/// What no regular expression of that size says of a text that is accepted: how long its parts are, and whether an expression is one.
bool has_lengths(std::string_view format, const std::string& text);
/// Up to how many characters has_lengths() holds of all that is accepted: -1 any number, 0 where that says nothing.
std::int64_t sure_length_of(std::string_view format);
/// One of all that may have the format: what does not match surely has not.
std::string wide_format(std::string_view format);

}  // namespace tril::search
