// libFuzzer: any bytes as a text, split into segments. Joined, they are the text, and each fits.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "must.h"
#include "unicode/segments.h"
#include "unicode/trim.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 3, size - 3);
  const std::string language{static_cast<char>('a' + data[0] % 26), static_cast<char>('a' + data[1] % 26)};
  const std::int64_t most = data[2] % 64;
  const auto tokens = [](std::string_view part) { return std::ssize(part); };
  for (const bool one_paragraph : {false, true}) {
    std::string joined;
    for (const tril::Segment& s : tril::segments_of(
             text, {.language = language, .one_paragraph = one_paragraph, .tokens = tokens, .max_tokens = most})) {
      joined += s.text;
      tril::fuzz::must(!s.text.empty(), "no segment is empty");
      tril::fuzz::must(s.translated || tril::trim(s.text).empty(), "only white space stays");
      tril::fuzz::must(!s.translated || most < 4 || std::ssize(s.text) <= most, "each segment fits");
    }
    tril::fuzz::must(joined == text, "joined, they are the text");
  }
  return 0;
}
