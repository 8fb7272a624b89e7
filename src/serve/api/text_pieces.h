// A text to be translated, cut into what is translated sentence by sentence and what stays as it is: white space, markup.
// Its pieces in a row are the text.
#pragma once

#include <functional>
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

/// Lines keep their ends and the white space around them. Where sentences end, says unicode/sentences.h.
std::vector<TextPiece> pieces_of_text(std::string_view text, Split split);

/// HTML: tags, comments, scripts, styles, and elements marked translate="no" or class="notranslate" stay; character
/// references of what is translated become characters, and what else a browser may read as one stays. Whatever is no
/// markup is text, which is cut into sentences for Split::sentences, and not at all for the others: lines are nothing to
/// HTML. What is not translated is as it was, byte for byte; so is the rest, in html_escaped()'s form.
std::vector<TextPiece> pieces_of_html(std::string_view html, Split split);

/// Calls add(part, whether it is to be translated) for what a line is made of: the white space around it and between its
/// sentences, which stays, and what lies between.
void cut_line(std::string_view line, bool sentences, const std::function<void(std::string_view, bool)>& add);

/// The text with a blank for white space that has line ends: what a sentence of HTML is.
std::string on_one_line(std::string_view text);

/// Text as it stands in HTML: & < > become entities.
std::string html_escaped(std::string_view text);
/// The characters that references stand for (character_references.h); what is none stays.
std::string html_unescaped(std::string_view text);

}  // namespace tril::serve
