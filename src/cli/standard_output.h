// Results on standard output: what could not be written was not done, and the message says why.
#pragma once

#include <string_view>

namespace tril::cli {

/// Writes and flushes `text`, so that a reader sees it at once. @throws Error for a full disk, a closed stream
void write_stdout(std::string_view text);

/// Flushes what was written to std::cout or stdout before. @throws Error where any of it was lost
void flush_stdout();

}  // namespace tril::cli
