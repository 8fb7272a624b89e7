// libFuzzer: any bytes as a config.json (tests/model/config_harness.h). An Error is fine; a crash, a hang, or a model that is
// not what the file says is not.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "model/config_harness.h"
#include "must.h"
#include "support/json_mutator.h"

using tril::testing::ConfigHarness;

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static ConfigHarness harness;
  const std::string wrong = harness.say({reinterpret_cast<const char*>(data), size});
  tril::fuzz::must(wrong.empty(), wrong);
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  return tril::test::JsonMutator(seed, ConfigHarness::words(), LLVMFuzzerMutate)(data, size, most);
}
