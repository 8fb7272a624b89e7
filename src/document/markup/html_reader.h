// Reads a part of a file as HTML.
#pragma once

#include <string>
#include <string_view>

#include "document/segments/document.h"
#include "document/segments/html_tags.h"

namespace tril::document {

/// Escapes text for HTML or XML, with the references that its segment had. An Escape for Slot.
std::string escape_markup(std::string_view text, const Slot& slot);

/// Adds the segments of a part (html.h). @param tags  of all bytes of the document
void add_html(TextDocument& document, const HtmlTags& tags, Range part);

}  // namespace tril::document
