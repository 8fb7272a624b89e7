// Character references of HTML: "&auml;", "&#228;", "&#xe4;".
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tril::serve {

struct CharacterReference {
  std::string text;       ///< what it stands for
  std::size_t bytes = 0;  ///< of the reference
};

/// The reference that `text` begins with: one of HTML 4's names, or a number (of the numbers that browsers read as
/// Windows-1252's, those characters), with its semicolon. Nothing where there is none, or it stands for no character.
std::optional<CharacterReference> character_reference(std::string_view text);

/// Bytes of what `text` begins with if a browser may read it as a reference that character_reference() does not know: another
/// name with a semicolon, or an old name or a number without one. 0: none.
std::size_t other_reference(std::string_view text);

}  // namespace tril::serve
