// libFuzzer: any bytes as a tokenizer.json. An Error is fine; what is accepted must encode and decode, and be the same
// tokenizer after it was written and read again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "text/tokenizer_json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::string_view sample = "Hello,  W\xc3\xb6rld! 123\n\xe4\xb8\x96\xe7\x95\x8c <s> \xf0\x9f\x98\x80\xff x";
  try {
    const auto parts = tril::read_tokenizer_json({reinterpret_cast<const char*>(data), size}, "fuzz");
    const auto tokenizer = tril::make_pipeline_tokenizer(parts, {});
    std::vector<std::int32_t> ids = tokenizer->encode(sample), again = tokenizer->encode(sample);
    if (ids != again) std::abort();  // words that were seen before
    tokenizer->decode(ids);
    const auto copy =
        tril::make_pipeline_tokenizer(tril::read_tokenizer_json(tril::tokenizer_json(parts), "again"), {});
    if (copy->encode(sample) != ids) std::abort();
  } catch (const tril::Error&) {
  }
  return 0;
}
