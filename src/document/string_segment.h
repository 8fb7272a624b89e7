// Strings of programs as segments: placeholders that a program replaces, tags, and the sign of a shortcut key are marks.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "document/segment.h"

namespace tril::document {

/// Placeholders are fixed words: printf's (`%s`, `%1$d`, `%(name)s`), braces (`{name}`, `{0:.2f}`, `{{name}}`, `${name}`,
/// `%{name}`, and whole ICU messages such as `{n, plural, ...}`), Qt's (`%1`, `%n`). Tags such as <b> are pairs. A single `&` or
/// `_` before a letter of a short string is a shortcut key's sign, and stands before a word.
/// @param escape  how the file writes text
Segment string_segment(std::string_view text, const std::function<std::string(std::string_view)>& escape);

/// The bytes of the placeholder at the start of a text; 0: there is none.
std::size_t placeholder_size(std::string_view text);

/// The text as files with backslashes write it: \n, \r and \t by their letters, a backslash before backslashes and before the
/// characters of `others`.
std::string escaped_controls(std::string_view text, std::string_view others = {});

/// Whether a string has anything to translate: a letter outside of marks.
bool is_worth_translating(const Segment& segment);

}  // namespace tril::document
