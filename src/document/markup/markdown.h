// Markdown: paragraphs, headings, items and cells are segments; emphasis, links and code are their marks.
//
// Blocks and inline marks are those of CommonMark 0.31, with the tables, strikethrough and bare addresses of GitHub's Markdown,
// footnotes, front matter and TeX formulas. Only the places of texts are found; lists and quotations need no tree.
#pragma once

#include <memory>
#include <string>

#include "document/segments/document.h"

namespace tril::document {

/// These stay unchanged: code, formulas, addresses, link definitions, front matter, tags, and everything between texts. A
/// reference such as "[text]" or "[text][]" keeps its label: its translation is written as "[Text][text]". HTML blocks are
/// read as HTML.
std::unique_ptr<Document> read_markdown(std::string markdown);

}  // namespace tril::document
