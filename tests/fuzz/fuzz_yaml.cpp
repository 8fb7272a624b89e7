// libFuzzer: any text as YAML. An Error is fine; what is accepted can be written as JSON and keeps within its limits.
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/error.h"
#include "format/yaml_file.h"
#include "must.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const nlohmann::json json = tril::parse_yaml(text, "x.yml", {.bytes = 1 << 16, .depth = 8, .values = 1000});
    tril::fuzz::must(json.flatten().size() <= 1000, "no more values than allowed");
    tril::fuzz::must(!json.dump().empty(), "it is JSON");
  } catch (const tril::Error&) {
  }
  return 0;
}
