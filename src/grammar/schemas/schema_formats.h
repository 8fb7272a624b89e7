// The formats of strings that JSON schema defines.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tril::search {

/// A regular expression of a strict form of the format that every validator accepts; "" if no draft defines the format.
std::string written_format(std::string_view format);
/// A regular expression of what validators accept, by the format's RFC; listed values are checked by it and by has_lengths().
std::string accepted_format(std::string_view format);
/// Conditions on an accepted text that no regular expression of that size can check: lengths of parts; whether a regex
/// is valid.
bool has_lengths(std::string_view format, const std::string& text);
/// The length up to which has_lengths() holds for every accepted text: -1 any length, 0 unknown.
std::int64_t sure_length_of(std::string_view format);
/// A regular expression that matches every text that may have the format: a text without a match surely does not have it.
std::string wide_format(std::string_view format);

}  // namespace tril::search
