// Training data of the soak tests: sentences, and the same with their words in reverse order.
#pragma once

#include <cstdint>
#include <string>

#include "base/rng.h"
#include "support/run_program.h"

namespace tril {

/// Writes train.src and train.tgt.
inline void write_pairs(const ScratchFolder& folder, int lines) {
  RandomSequence random(1, 3);
  std::string source, target;
  for (int i = 0; i < lines; ++i) {
    std::string s, t;
    for (std::uint64_t n = 1 + random.below(6); n > 0; --n) {
      const std::string word(1 + random.below(3), static_cast<char>('a' + random.below(12)));
      s += word + " ";
      t = word + " " + t;
    }
    source += s + "\n";
    target += t + "\n";
  }
  folder.write("train.src", source);
  folder.write("train.tgt", target);
}

}  // namespace tril
