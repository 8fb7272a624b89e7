// Strings of a program in JSON: the values of all keys, at any depth.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "document/segments/document.h"

namespace tril::document {

/// The text as it stands between a JSON string's quotes.
std::string json_escaped(std::string_view text);

/// Keys, numbers, layout, the order of keys, and the values of keys that begin with "@" (the notes of ARB files) are
/// kept. Placeholders are marks (string_segment.h).
/// @throws Error if the text is not JSON within limits (format/json_file.h)
std::unique_ptr<Document> read_json_strings(std::string json, const std::string& where);

}  // namespace tril::document
