// Splits a text to be translated into pieces that are translated, sentence by sentence, and pieces that stay, such as
// white space and markup. The concatenated pieces are the text.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace tril::serve {

struct TextPiece {
  std::string text;
  bool translated = false;  ///< false: it stays
};

/// How plain text is split.
enum class Split { none, lines, sentences };

/// Lines keep their ends and the white space around them. unicode/sentences.h finds the ends of sentences.
std::vector<TextPiece> pieces_of_text(std::string_view text, Split split);

/// HTML: tags, comments, scripts, styles, and elements marked translate="no" or class="notranslate" stay; character
/// references in translated text become characters, except those only browsers may read. Text outside of markup is
/// split into sentences for Split::sentences, and otherwise not split, since lines mean nothing in HTML. Untranslated
/// pieces are unchanged byte for byte, and so are the others, in html_escaped()'s form.
std::vector<TextPiece> pieces_of_html(std::string_view html, Split split);

/// The position in `text` of a part of it.
std::size_t offset_of(std::string_view part, std::string_view text);

/// Calls add(part, whether it is to be translated) for the parts of a line: white space around it and between its
/// sentences, which stays, and the text between.
void cut_line(std::string_view line, bool sentences, const std::function<void(std::string_view, bool)>& add);

/// The text with white space that contains line ends replaced by a blank: the form of an HTML sentence.
std::string on_one_line(std::string_view text);

/// Escapes text for HTML: & < > become entities.
std::string html_escaped(std::string_view text);
/// Replaces references (character_references.h) by their characters; anything else stays.
std::string html_unescaped(std::string_view text);

}  // namespace tril::serve
