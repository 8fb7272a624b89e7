#include "corpus/document.h"

#include <algorithm>

#include "base/error.h"
#include "base/line_of.h"
#include "corpus/input.h"
#include "unicode/trim.h"

namespace tril {

std::string read_document(const std::string& path, std::int64_t most) {
  Input input(path);
  std::string text;
  for (std::string_view bytes = input.read(); !bytes.empty(); bytes = input.read()) {
    text += bytes;
    if (std::ssize(text) > most)
      fail(input.name(), fmt::format("is longer than the {} bytes allowed in memory", most),
           "raise `data_memory`, or give a shorter text");
  }
  if (text.starts_with("\xef\xbb\xbf")) text.erase(0, 3);
  if (text.empty()) fail(input.name(), "is empty", "pass a UTF-8 text file");
  if (const std::size_t nul = text.find('\0'); nul != text.npos)
    fail(input.name(), fmt::format("is a binary file (a NUL byte at offset {})", nul), "pass a UTF-8 text file");
  if (const auto fault = find_utf8_fault(text)) {
    const std::size_t newline = text.rfind('\n', fault->offset);
    const std::size_t line_begin = newline == text.npos || fault->offset == 0 ? 0 : newline + 1;
    const auto in_line = find_utf8_fault(std::string_view(text).substr(line_begin));
    fail(fmt::format("{}: line {}", input.name(), line_of(text, fault->offset)),
         fmt::format("is not valid UTF-8 (byte 0x{:02X} at column {})", fault->byte,
                     in_line ? in_line->column : fault->column),
         "fix it");
  }
  return text;
}

}  // namespace tril
