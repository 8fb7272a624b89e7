// The plural categories of languages, as CLDR defines them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tril {

/// The categories of a language's cardinal numbers, in the order zero, one, two, few, many, other: "one" and "other" for
/// English, "other" alone for Japanese (Unicode Technical Standard 35, part 3, "Language Plural Rules").
/// @param code  of the language, in any form (code.h). Of an unknown language: "other"
std::vector<std::string> plural_categories(std::string_view code);

}  // namespace tril
