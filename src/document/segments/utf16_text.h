// Text files in UTF-16, read as documents in UTF-8 and written in their encoding again.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "document/segments/document.h"

namespace tril::document {

/// True if a file begins with UTF-16's byte order mark.
bool is_utf16(std::string_view bytes);

/// Reads a file in UTF-16 of either byte order, with its mark. @param read  gets UTF-8, without a mark
/// @throws Error naming the byte of a lone surrogate, or of an odd last byte
std::unique_ptr<Document> read_utf16(const std::string& bytes, const std::string& where,
                                     const std::function<std::unique_ptr<Document>(std::string text)>& read);

}  // namespace tril::document
