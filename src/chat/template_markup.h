// Texts that are HTML (markup), as Jinja's safe and escape make them: whatever is added to one is escaped.
#pragma once

#include <string>
#include <string_view>

#include "chat/template_arguments.h"

namespace tril::chat {

/// &, <, >, ' and " as HTML writes them.
std::string escaped(std::string_view text);
/// A value as markup: markup as it is, anything else printed and escaped.
Value to_markup(const Value& value, Budget& budget);
/// What stands for an argument in a text that is like `like`: escaped where that is markup and the argument is not.
std::string text_for(const Value& like, const Value& argument, std::string_view whose, Budget& budget);
/// a + b of texts: markup where either is.
Value sum_of_texts(const Value& a, const Value& b, Budget& budget);
/// Without tags, and with single blanks between words.
std::string without_tags(std::string_view text, Budget& budget);
/// The filter xmlattr(autospace).
std::string xml_attributes(const Value& value, bool space_in_front, Budget& budget);
/// A text as part of a URL. @param query  with + for blanks, and / escaped
std::string url_quoted(std::string_view text, bool query);

}  // namespace tril::chat
