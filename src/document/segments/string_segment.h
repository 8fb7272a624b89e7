// Strings of programs as segments: placeholders that a program replaces, tags, and the sign of a shortcut key are marks.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "document/segments/segment.h"
#include "document/segments/string_tokens.h"

namespace tril::document {

/// Placeholders (string_tokens.h) are fixed words, tags such as <b> are pairs, and the sign of a shortcut key stands before a
/// word.
/// @param escape  how the file writes text
Segment string_segment(std::string_view text, const std::function<std::string(std::string_view)>& escape,
                       ShortcutKeys shortcuts = ShortcutKeys::possible);

/// The text as files with backslashes write it: \n, \r and \t by their letters, a backslash before backslashes and before the
/// characters of `others`.
std::string escaped_controls(std::string_view text, std::string_view others = {});

/// Whether a string has anything to translate: a letter outside of marks.
bool is_worth_translating(const Segment& segment);

}  // namespace tril::document
