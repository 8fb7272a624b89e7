// A text file as one text, not as lines: what a language model learns from.
#pragma once

#include <cstdint>
#include <string>

namespace tril {

/// The whole of a file, plain or gzip, or of standard input ("-"): its bytes as they are, newlines included, without a
/// byte order mark.
/// @param most  bytes at most
/// @throws Error for a file that is missing, unreadable, empty, longer, or not UTF-8 (naming the line and column)
std::string read_document(const std::string& path, std::int64_t most);

}  // namespace tril
