// libFuzzer: any bytes as a JSON file. An Error is fine; what is accepted must survive being written and read again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/error.h"
#include "format/json_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const nlohmann::json json = tril::parse_json(text, "fuzz", {.bytes = 1 << 20, .depth = 16, .values = 10'000});
    // A number is written with all its digits, so that the second reading is the first.
    if (tril::parse_json(json.dump(), "again") != json) std::abort();
    const tril::JsonObject object(json, "fuzz");
    for (const std::string& key : object.keys()) {
      try {
        if (object.find_size(key).value_or(1) < 1) std::abort();
      } catch (const tril::Error&) {
      }
      try {
        object.find<std::vector<std::int64_t>>(key);
      } catch (const tril::Error&) {
      }
    }
    check_keys(object, {"d_model", "vocab_size"});
  } catch (const tril::Error&) {
  }
  return 0;
}
