// Reads a part of a file as HTML.
#pragma once

#include "document/document.h"
#include "document/html_tags.h"

namespace tril::document {

/// Adds the segments of a part (html.h). @param tags  of all bytes of the document
void add_html(TextDocument& document, const HtmlTags& tags, Range part);

}  // namespace tril::document
