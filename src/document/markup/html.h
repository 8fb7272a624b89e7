// HTML: texts between elements are segments, with tags within a sentence as their marks.
#pragma once

#include <memory>
#include <string>

#include "document/segments/document.h"

namespace tril::document {

/// Elements within a sentence (<b>, <a>, <span>) are marks; others, such as <p> and <br>, end a segment. Words of
/// <code>, <kbd>, and of elements marked translate="no" or class="notranslate" are fixed words of a sentence. Scripts,
/// styles, <pre>, <textarea>, drawings and attributes are not changed. Character references become characters, and are
/// written again where the segment had them; those that only browsers know are points.
std::unique_ptr<Document> read_html(std::string html);

/// Escapes text for HTML or XML: & < > become entities, and control characters, which XML forbids, become spaces.
std::string html_escaped(std::string_view text);
/// Replaces references (character_references.h) by their characters; anything else is kept.
std::string html_unescaped(std::string_view text);

}  // namespace tril::document
