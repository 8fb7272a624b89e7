// libFuzzer: any bytes as a binary shortlist, and the same bytes behind the magic and checksum that let them in.
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "align/binary_shortlist.h"
#include "base/error.h"
#include "must.h"

namespace {

void read(const std::string& bytes) {
  try {
    const tril::BinaryShortlist list =
        tril::read_binary_shortlist(std::as_bytes(std::span(bytes)), "x", {.source = 50, .target = 60, .shared = true});
    tril::fuzz::must(list.first >= 0 && list.first <= 60, "the frequent words are words");
    tril::fuzz::must(list.table.of_source.size() == 50, "each source word has a list");
    for (const auto& entries : list.table.of_source)
      for (const auto& entry : entries) tril::fuzz::must(entry.target >= 0 && entry.target < 60, "a target word");
  } catch (const tril::Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  read(bytes);
  constexpr std::uint64_t magic = 0xF11A48D5013417F5;
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i + 8 <= size; i += 8) {
    std::uint64_t v = 0;
    std::memcpy(&v, data + i, 8);
    sum ^= v + 0x9e3779b9 + (sum << 6) + (sum >> 2);
  }
  std::string begin(16, '\0');
  std::memcpy(begin.data(), &magic, 8);
  std::memcpy(begin.data() + 8, &sum, 8);
  read(begin + bytes);
  return 0;
}
