// A 64-bit hash of many bytes at memory speed: eight chains of h <- rotate((h ^ word) * odd). This step is
// one-to-one in h for any word, and in the word for any h, so a change within one chain is never lost. Not secure
// against adversaries.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/hash.h"

namespace tril {

inline std::uint64_t content_hash(std::span<const std::byte> bytes) {
  constexpr std::size_t lanes = 8, block = lanes * sizeof(std::uint64_t);
  std::array<std::uint64_t, lanes> h{1, 2, 3, 4, 5, 6, 7, 8}, words;
  const auto take = [&](const std::byte* from, std::size_t count) {
    words = {};
    std::memcpy(words.data(), from, count);
    for (std::size_t i = 0; i < lanes; ++i) h[i] = std::rotl((h[i] ^ words[i]) * 0x9e3779b97f4a7c15ull, 29);
  };
  std::size_t i = 0;
  for (; i + block <= bytes.size(); i += block) take(bytes.data() + i, block);
  if (i < bytes.size()) take(bytes.data() + i, bytes.size() - i);
  Hash all;
  for (const std::uint64_t lane : h) all.add(lane);
  return all.add(bytes.size()).value();
}

}  // namespace tril
