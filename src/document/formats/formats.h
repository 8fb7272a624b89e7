// The formats of documents, by the extensions of their names.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "document/segments/document.h"
#include "document/segments/stated_encoding.h"

namespace tril::document {

/// How the bytes of a file represent text.
enum class Encoding : std::uint8_t {
  utf8,
  packed,  ///< a ZIP archive
  own,     ///< its reader checks it
};

struct DocumentFormat {
  std::string_view name;                         ///< "Markdown"
  std::span<const std::string_view> extensions;  ///< "md", "markdown"
  std::unique_ptr<Document> (*read)(std::string bytes, const DocumentOptions& options);
  Encoding encoding = Encoding::utf8;
  StatesEncoding states = StatesEncoding::nowhere;  ///< of files with Encoding::utf8
};

std::span<const DocumentFormat> document_formats();
/// "html, htm, md, ..."
std::string known_extensions();

/// True if a name has one of these extensions, in upper or lower case.
bool is_known(std::string_view path);

/// The format of a file by its extension, in upper or lower case.
/// @throws Error(usage) that lists the known extensions
const DocumentFormat& format_of(std::string_view path);

/// Reads a document in the format of its extension.
/// @param options  `where` is its name
/// @throws Error if the format is not known, or the bytes are not of this format or not UTF-8
std::unique_ptr<Document> read_document(std::string bytes, const DocumentOptions& options);

/// "notes.en.md" -> "notes.en.de.md"
std::string translated_path(std::string_view path, std::string_view language);

}  // namespace tril::document
