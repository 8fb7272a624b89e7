// libFuzzer: any bytes as a connection to the server, any path and body as a request (tests/serve/request_harness.h).
// Refusals are fine; a crash, a hang, an internal error or an answer that is no JSON is not.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "serve/request_harness.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static tril::serve::testing::RequestHarness harness;
  const std::string wrong = harness.say({reinterpret_cast<const char*>(data), size});
  if (!wrong.empty()) {
    std::fprintf(stderr, "%s\n", wrong.c_str());
    std::abort();
  }
  return 0;
}
