// A synthetic corpus for `tril demo`: dates, times of day and numbers, each written in one of many ways in English,
// German or French, paired with its canonical form:
//
//   the third of May 2021                     2021-05-03
//   halb drei nachmittags                     14:30
//   mille deux cent trente-quatre virgule cinq   1234.5
//
// Ambiguous forms are left out (03/07/2026; 1,234, which is a thousand or one and a bit), so that each line has one
// right answer.
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

/// One line of a kind, with random value, language and form.
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

/// No source line occurs twice, within or across the three parts.
struct DemoCorpus {
  std::vector<DemoPair> train, valid, test;
};

/// Draws pairs by `pair`. @throws Error(usage) if it does not yield enough different lines
DemoCorpus make_demo_corpus(const DemoSizes& sizes, const std::function<DemoPair(RandomSequence&)>& pair);
/// A pure function of the options. @throws Error(usage) if the forms do not yield enough different lines
DemoCorpus make_demo_corpus(const DemoCorpusOptions& options);

}  // namespace tril::train
