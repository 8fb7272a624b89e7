// Texts that are HTML (markup), as Jinja's filters safe and escape make them. Text that is added to markup is escaped.
#pragma once

#include <string>
#include <string_view>

#include "chat/template_arguments.h"

namespace tril::chat {

/// Escapes &, <, >, ' and " for HTML.
std::string escaped(std::string_view text);
/// A value as markup: markup unchanged, anything else printed and escaped.
Value to_markup(const Value& value, Budget& budget);
/// An argument as text that may be put into `like`: escaped if `like` is markup and the argument is not.
std::string text_for(const Value& like, const Value& argument, std::string_view whose, Budget& budget);
/// a + b of texts: markup if either is markup.
Value sum_of_texts(const Value& a, const Value& b, Budget& budget);
/// Removes tags and collapses white space.
std::string without_tags(std::string_view text, Budget& budget);
/// The filter xmlattr(autospace).
std::string xml_attributes(const Value& value, bool space_in_front, Budget& budget);
/// Percent-encodes a text. @param query  also encodes / and writes + for blanks
std::string url_quoted(std::string_view text, bool query);

}  // namespace tril::chat
