// A text file as one text, not as lines: the input of a language model.
#pragma once

#include <cstdint>
#include <string>

namespace tril {

/// The contents of a file, plain or gzip, or of standard input ("-"): the bytes, newlines included, without a byte order mark.
/// @param most  maximum bytes
/// @throws Error for a file that is missing, unreadable, empty, longer, or not UTF-8 (naming the line and column)
std::string read_document(const std::string& path, std::int64_t most);

}  // namespace tril
