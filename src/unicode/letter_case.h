// Upper, lower and title case as in Python's strings: Unicode's full, language-independent mappings, in which one
// character may become several, and a final capital sigma has its own lower-case form.
#pragma once

#include <string>
#include <string_view>

namespace tril {

std::string upper_case(std::string_view text);
std::string lower_case(std::string_view text);
/// The first character in title case, the others in lower case: str.capitalize().
std::string capital_case(std::string_view text);
/// The first letter of each run of letters in title case: str.title().
std::string title_case(std::string_view text);

/// For comparison without regard to case: str.casefold().
std::string folded_case(std::string_view text);

/// Whether all cased letters are lower case (upper case) and there are some: str.islower(), str.isupper().
bool is_lower_case(std::string_view text);
bool is_upper_case(std::string_view text);

}  // namespace tril
