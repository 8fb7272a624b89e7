// The formats of strings that JSON schema defines.
#pragma once

#include <string>
#include <string_view>

namespace tril::search {

/// A regular expression of a strict form of the format, one that every validator knows; "" where it is none of the drafts'.
std::string written_format(std::string_view format);
/// One of all that may have the format: what does not match surely has not.
std::string wide_format(std::string_view format);

}  // namespace tril::search
