// The fuzzer's seeds (tests/fuzz/requests), unchanged and with some bytes changed: all get valid answers.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/rng.h"
#include "support/paths.h"
#include "support/request_harness.h"
#include "support/rounds.h"

namespace tril::serve::testing {
namespace {

std::vector<std::pair<std::string, std::string>> seeds() {
  std::vector<std::pair<std::string, std::string>> list;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(test::test_dir()) / "fuzz" / "requests")) {
    std::ostringstream text;
    text << std::ifstream(entry.path(), std::ios::binary).rdbuf();
    list.emplace_back(entry.path().filename().string(), text.str());
  }
  std::sort(list.begin(), list.end());
  return list;
}

TEST(RequestFuzz, SeedsAndTheirMutationsAreAnswered) {
  RequestHarness harness;
  const auto all = seeds();
  ASSERT_GE(all.size(), 20u);
  for (const auto& [name, text] : all) EXPECT_EQ(harness.say(text), "") << name;
  const std::string bytes = "{}[]\",:0123456789.-eE\\u\x00\xff truefalsn\r\n";
  test::rounds(600, [&](RandomSequence& random) {
    std::string text = all[random.below(all.size())].second;
    const std::size_t line = text.find('\n') + 1;  // keeps the request line
    for (std::uint64_t k = 1 + random.below(4); k > 0 && text.size() > line; --k) {
      const std::size_t at = line + random.below(text.size() - line);
      switch (random.below(4)) {
        case 0:
          text[at] = bytes[random.below(bytes.size())];
          break;
        case 1:
          text[at] = static_cast<char>(random.below(256));
          break;
        case 2:
          text.erase(at, 1 + random.below(6));
          break;
        default:
          text.insert(at, text.substr(line + random.below(text.size() - line), random.below(12)));
      }
    }
    EXPECT_EQ(harness.say(text), "") << text;
  });
}

}  // namespace
}  // namespace tril::serve::testing
