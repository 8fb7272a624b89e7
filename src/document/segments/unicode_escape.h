// Escapes of UTF-16 units in files of strings: "\u00e4", "\ud83d\ude00".
#pragma once

#include <optional>
#include <string_view>

#include "document/segments/character_references.h"

namespace tril::document {

/// The character of "\uXXXX" at the start of a text, or of two of them that form a surrogate pair. A lone surrogate
/// means U+FFFD.
/// @param letter  'u', or 'U' as in Apple's strings
/// @return nothing if there is none, or it means U+0000
std::optional<CharacterReference> unicode_escape(std::string_view text, char letter = 'u');

}  // namespace tril::document
