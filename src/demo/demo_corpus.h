// A corpus made on the spot, for `tril demo`: dates, times of day and numbers, each written in one of many ways in
// English, German or French, and beside it the one form that machines like:
//
//   the third of May 2021                     2021-05-03
//   halb drei nachmittags                     14:30
//   mille deux cent trente-quatre virgule cinq   1234.5
//
// Whatever two people would read differently is left out (03/07/2026; 1,234, which is a thousand or one and a bit), so
// that each line has one right answer.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/rng.h"

namespace tril::train {

enum class DemoKind : std::uint8_t { dates, times, numbers };

struct DemoPair {
  std::string source, target;
  friend bool operator==(const DemoPair&, const DemoPair&) = default;
};

/// One line of a kind: its value, language and form are drawn.
DemoPair demo_pair(RandomSequence& random, DemoKind kind);

struct DemoSizes {
  std::int64_t train, valid, test;  ///< lines
  std::uint64_t seed = 1;
};

struct DemoCorpusOptions {
  std::vector<DemoKind> kinds{DemoKind::dates, DemoKind::times, DemoKind::numbers};
  std::int64_t train = 80'000, valid = 1'000, test = 1'000;  ///< lines
  std::uint64_t seed = 1;
};

/// No source line is in two of the three, or twice in one.
struct DemoCorpus {
  std::vector<DemoPair> train, valid, test;
};

/// Of pairs that `pair` draws. @throws Error(usage) where it does not give that many different lines
DemoCorpus make_demo_corpus(const DemoSizes& sizes, const std::function<DemoPair(RandomSequence&)>& pair);
/// A function of the options. @throws Error(usage) where the forms do not give that many different lines
DemoCorpus make_demo_corpus(const DemoCorpusOptions& options);

}  // namespace tril::train
