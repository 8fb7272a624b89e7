// Python's string methods, and Jinja's text filters, of chat templates.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chat/template_arguments.h"

namespace tril::chat {

bool is_python_space(char32_t c);
std::vector<std::string_view> characters(std::string_view s);
std::int64_t length_of(std::string_view s);  ///< in characters

enum Ends : std::uint8_t { left = 1, right = 2, both = 3 };
/// Removes the characters of `which` (by default white space) from the ends.
std::string stripped(std::string_view s, const Value* which, Ends ends, Budget& budget);
/// The filter title: a capital after blanks, hyphens and opening brackets. str.title() is title_case().
std::string titled(std::string_view s);

/// The position of `what` in `s` at or after `from`, or npos; pays for the bytes that it searches, in linear time.
std::size_t find_text(std::string_view s, std::string_view what, std::size_t from, Budget& budget);
/// The last position.
std::size_t find_last_text(std::string_view s, std::string_view what, Budget& budget);
/// The characters of Python's s[from:to], where each bound is None or a number; nothing if `from` is past the end.
struct Part {
  std::string_view text;
  std::int64_t begin = 0;  ///< in characters
};
std::optional<Part> part_of(std::string_view s, const Value* from, const Value* to);

/// @param most  replacements at most; below 0: all
std::string replaced(std::string_view s, std::string_view from, std::string_view to, std::int64_t most, Budget& budget);
/// @param by  None: white space
std::vector<std::string_view> split(std::string_view s, const Value* by, std::int64_t most, bool from_right,
                                    Budget& budget);
/// str.splitlines()
std::vector<std::string_view> lines_of(std::string_view s, bool keep_ends, Budget& budget);
std::string joined(const List& list, std::string_view by, Budget& budget);
/// How many characters a text lacks to reach `width`; zero or less if it is as wide. A negative width counts as 0.
std::int64_t room_in(std::int64_t width, std::string_view s);
/// Puts the character `before` times before and `after` times after the text.
std::string padded(std::string_view s, std::int64_t before, std::int64_t after, std::string_view with, Budget& budget);
/// str.center()
std::string centered(std::string_view s, std::int64_t width, std::string_view with, Budget& budget);
/// The filter indent(width, first, blank).
std::string indented(std::string_view s, const Arguments& a, Budget& budget);
/// The filter truncate(length, killwords, end, leeway).
Value truncated(const Value& value, const Arguments& a, Budget& budget);
/// Words of letters, digits and underscores.
std::int64_t count_words(std::string_view s);

}  // namespace tril::chat
