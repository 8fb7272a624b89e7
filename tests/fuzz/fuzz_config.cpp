// libFuzzer: any bytes as a config.json (tests/support/config_harness.h). An Error is fine; a crash, a hang, or a model
// that differs from the file is not.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "must.h"
#include "support/config_harness.h"
#include "support/json_mutator.h"
#include "support/small_configs.h"

using tril::testing::ConfigHarness;

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static ConfigHarness harness;
  const std::string wrong = harness.say({reinterpret_cast<const char*>(data), size});
  tril::fuzz::must(wrong.empty(), wrong);
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  // The golden directories do not cover all families: others are injected now and then.
  static const std::vector<std::string> small = tril::testing::small_configs();
  if (const std::string& text = small[seed / 50 % small.size()]; seed % 50 == 0 && text.size() <= most) {
    std::copy(text.begin(), text.end(), data);
    return text.size();
  }
  return tril::test::JsonMutator(seed / 50, ConfigHarness::words(), LLVMFuzzerMutate)(data, size, most);
}
