// The roles of LaTeX's commands and environments in a translation.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tril::document {

enum class LatexRole : std::uint8_t {
  pair,      ///< its last argument is text within a sentence: \emph{...}
  block,     ///< its last argument is a segment of its own: \section{...}
  fixed,     ///< with its arguments it stands for words: \cite{...}
  boundary,  ///< it ends a segment: \item, \newpage
  line,      ///< it ends a segment, and the rest of its line is kept: \vskip 1cm, \def
  unknown,   ///< it and its arguments are kept in place
};

struct LatexCommand {
  LatexRole role = LatexRole::unknown;
  int arguments = 0;  ///< in braces, before the text of a pair or a block
};
/// @param name  without the backslash and a star
LatexCommand latex_command(std::string_view name);

/// An environment whose contents are text.
struct LatexText {
  int arguments = 0;       ///< in braces, after its name; they are kept
  bool has_title = false;  ///< its name is followed by texts in braces: its title and subtitle
};
/// Nothing if the contents of the environment are not text. @param environment  without a star
std::optional<LatexText> latex_text(std::string_view environment);

/// The character of an accent such as \"a, \'{e}, \c{c}; nothing if there is no such character. @param accent  the
/// character or the name of the command; @param base  the letter
std::optional<std::string_view> latex_accent(std::string_view accent, std::string_view base);
/// The character of a command such as \ss or \ldots.
std::optional<std::string_view> latex_symbol(std::string_view name);

}  // namespace tril::document
