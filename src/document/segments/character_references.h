// Character references of HTML: "&auml;", "&#228;", "&#xe4;".
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tril::document {

struct CharacterReference {
  std::string text;       ///< the character
  std::size_t bytes = 0;  ///< of the reference
};

/// The reference at the start of `text`: one of HTML 4's names, or a number (128 to 159 as Windows-1252, like
/// browsers), with its semicolon. Nothing if there is none, or it means no character.
std::optional<CharacterReference> character_reference(std::string_view text);

/// Bytes at the start of `text` that a browser may read as a reference that character_reference() does not know:
/// another name with a semicolon, or an old name or a number without one. 0: none.
std::size_t other_reference(std::string_view text);

}  // namespace tril::document
