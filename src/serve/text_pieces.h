// A text to be translated, cut into what is translated sentence by sentence and what stays as it is: white space, markup.
// Its pieces in a row are the text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tril::serve {

struct TextPiece {
  std::string text;
  bool translated = false;  ///< whether it is to be
};

/// How plain text is cut.
enum class Split { none, lines, sentences };

/// Lines keep their ends and the white space around them. A sentence ends behind . ! ? and what closes there (quotes,
/// brackets), where white space follows and then no small letter; not behind an initial or a short abbreviation; and behind
/// the full stops of Chinese and Japanese.
std::vector<TextPiece> pieces_of_text(std::string_view text, Split split);

/// HTML: tags, comments, scripts, styles, and elements marked translate="no" or class="notranslate" stay; entities of what
/// is translated become characters. Whatever is no markup is text.
std::vector<TextPiece> pieces_of_html(std::string_view html, Split split);

/// Text as it stands in HTML: & < > become entities.
std::string html_escaped(std::string_view text);
/// The characters that entities stand for; what is no known entity stays.
std::string html_unescaped(std::string_view text);

}  // namespace tril::serve
