// Inline marks of Markdown: the words of one paragraph, heading or cell.
#pragma once

#include <set>
#include <span>
#include <string>

#include "document/segments/html_tags.h"
#include "document/segments/segment_builder.h"

namespace tril::document {

/// What inline marks may refer to.
struct MarkdownContext {
  const HtmlTags& tags;                 ///< of the whole text
  const std::set<std::string>& labels;  ///< of link definitions, in the form of link_label()
};

/// Labels are compared without regard to case and to the amount of white space.
std::string link_label(std::string_view label);

/// Adds the segments of a block.
/// @param lines  its bytes, line by line, without line ends and without the prefix of each line in the file ("> ")
void add_markdown_inlines(TextDocument& document, std::span<const Range> lines, const MarkdownContext& context);

}  // namespace tril::document
