// Loops of random rounds: their number, and how to repeat one round alone.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/rng.h"

namespace tril::test {

/// The number of rounds of a loop that usually makes `usual` of them: TRIL_ROUNDS, a number ("100000") or a share of
/// `usual` ("20%"); `usual` if it is not set.
inline std::uint64_t round_count(std::uint64_t usual) {
  const char* const wanted = std::getenv("TRIL_ROUNDS");
  if (!wanted) return usual;
  const std::string text = wanted;
  const std::uint64_t number = std::stoull(text);
  return text.back() == '%' ? std::max<std::uint64_t>(1, usual * number / 100) : number;
}

/// The step of a loop over `all` cases that visits at least round_count(all) of them; 1 if there are no more cases than that.
inline std::size_t stride(std::size_t all) {
  return std::max<std::size_t>(1, all / std::max<std::size_t>(1, round_count(all)));
}

/// Calls round(random) with random numbers of its own, round_count(usual) times or until one fails. A failure names
/// the round's seed; TRIL_SEED=seed TRIL_ROUNDS=1 repeats that round alone. Returns the number of rounds.
template <class Round>
std::uint64_t rounds(std::uint64_t usual, const Round& round) {
  const char* const wanted = std::getenv("TRIL_SEED");
  const std::uint64_t count = round_count(usual), first = wanted ? std::stoull(wanted) : 1;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE("TRIL_SEED=" + std::to_string(seed));
    RandomSequence random(seed, 0);
    round(random);
    if (::testing::Test::HasFailure()) return seed - first + 1;
  }
  return count;
}

}  // namespace tril::test
