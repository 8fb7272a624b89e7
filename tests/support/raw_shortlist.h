// The bytes of one of Marian's binary shortlists (align/binary_shortlist.h).
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "support/raw_number.h"

namespace tril::test {

struct RawShortlist {
  std::uint64_t first = 2, best = 3;
  std::vector<std::uint64_t> offsets;
  std::vector<std::uint32_t> words;
};

inline std::string content_of(const RawShortlist& l) {
  std::string bytes =
      raw(l.first) + raw(l.best) + raw<std::uint64_t>(l.offsets.size()) + raw<std::uint64_t>(l.words.size());
  for (const std::uint64_t o : l.offsets) bytes += raw(o);
  for (const std::uint32_t w : l.words) bytes += raw(w);
  return bytes;
}

inline std::string raw_shortlist(const RawShortlist& l) {
  const std::string bytes = content_of(l);
  std::uint64_t seed = 0;
  for (std::size_t i = 0; i + 8 <= bytes.size(); i += 8) {
    std::uint64_t v = 0;
    std::memcpy(&v, bytes.data() + i, 8);
    seed ^= v + 0x9e3779b9 + (seed << 6) + (seed >> 2);
  }
  return raw(std::uint64_t{0xF11A48D5013417F5}) + raw(seed) + bytes;
}

}  // namespace tril::test
