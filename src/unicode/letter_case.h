// Upper case, lower case and titles, as Python's strings have them: Unicode's full mappings without a language, in which
// one character may become several, and a capital sigma at the end of a word becomes another letter than elsewhere.
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

/// For comparing without regard to case: str.casefold().
std::string folded_case(std::string_view text);

/// Whether there are letters with a case and all of them are lower ones, or upper ones: str.islower(), str.isupper().
bool is_lower_case(std::string_view text);
bool is_upper_case(std::string_view text);

}  // namespace tril
