// What a chat template does to texts, as Python's strings do it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/template_arguments.h"

namespace tril::chat {

std::vector<std::string_view> characters(std::string_view s);
std::int64_t length_of(std::string_view s);  ///< in characters

enum Ends : std::uint8_t { left = 1, right = 2, both = 3 };
/// Without the characters of `which` (white space where there is none) at its ends.
std::string stripped(std::string_view s, const Value* which, Ends ends, Budget& budget);
/// The filter title: behind blanks, hyphens and opening brackets there is a capital. str.title() is title_case().
std::string titled(std::string_view s);

/// Where `what` is in `s` from `from` on, or npos; in time that grows with their sum.
std::size_t find_text(std::string_view s, std::string_view what, std::size_t from = 0);

/// @param most  how often; below 0: everywhere
std::string replaced(std::string_view s, std::string_view from, std::string_view to, std::int64_t most, Budget& budget);
/// @param by  none: white space
List split(std::string_view s, const Value* by, std::int64_t most, bool from_right, Budget& budget);
/// str.splitlines()
List lines_of(std::string_view s, bool keep_ends, Budget& budget);
std::string joined(const List& list, std::string_view by, Budget& budget);
/// Whether it begins, or ends, with a text or one of a tuple of them.
bool has_end(const std::string& s, const Value& what, bool at_start, Budget& budget);
/// The filter indent(width, first, blank).
std::string indented(std::string_view s, const Arguments& a, Budget& budget);

}  // namespace tril::chat
