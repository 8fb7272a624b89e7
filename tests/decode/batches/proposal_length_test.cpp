// The number of proposed tokens, in simulated searches whose times and acceptance are known.
#include "decode/batches/proposal_length.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "base/rng.h"

namespace tril::search::proposal_length_test {
namespace {

// Proposals that are accepted with one probability, and steps that cost so many seconds for each length.
struct Simulated {
  double agreement = 0.5, each = 0.1;  // a step without proposals takes 1 second
  double available = 1;                // the share of steps for which there are proposals
  double noise = 0;                    // relative, of a step's time
};

class Simulation {
 public:
  explicit Simulation(std::int32_t most = 8, std::size_t rows = 1, std::uint64_t seed = 3)
      : most_(most), rows_(rows), length_(most), random_(seed, 7) {}

  // Makes so many tokens of each row, or a few more; returns the seconds. A fixed length asks for nothing.
  double make(const Simulated& s, std::int64_t tokens, std::int32_t fixed = -1) {
    double seconds = 0;
    for (std::int64_t made = 0; made < tokens * static_cast<std::int64_t>(rows_);) {
      const std::int32_t length = fixed >= 0 ? fixed : length_.next(rows_);
      EXPECT_TRUE(length >= 0 && length <= most_) << length;
      const bool some = random_.uniform() < s.available;
      std::vector<std::int32_t> proposed(rows_, some ? length : 0), accepted(rows_, 0);
      for (std::size_t r = 0; r < rows_; ++r) {
        while (accepted[r] < proposed[r] && random_.uniform() < s.agreement) ++accepted[r];
        made += 1 + accepted[r];
      }
      const double time =
          (1 + (some ? s.each * length : 0)) * std::exp(s.noise * (random_.uniform() + random_.uniform() - 1));
      if (fixed < 0) length_.add({rows_, some ? length : 0, proposed, accepted, time});
      seconds += time, ++steps_, asked_ += length;
    }
    return seconds;
  }
  double mean_length() const { return static_cast<double>(asked_) / static_cast<double>(steps_); }

 private:
  std::int32_t most_;
  std::size_t rows_;
  ProposalLength length_;
  RandomSequence random_;
  std::int64_t steps_ = 0, asked_ = 0;
};

TEST(ProposalLength, IsAsFastAsTheBestFixedOne) {
  for (const std::size_t rows : {1, 4, 32})
    for (const double agreement : {0.3, 0.6, 0.8, 0.95})
      for (const double each : {0.0, 0.02, 0.1, 0.3})
        for (const double noise : {0.0, 0.2}) {
          const Simulated s{.agreement = agreement, .each = each, .noise = noise};
          // Over several texts, since chance decides how fast one is.
          const auto seconds = [&](std::int32_t fixed) {
            double all = 0;
            for (std::uint64_t seed = 0; seed < 4; ++seed)
              all += Simulation(8, rows, seed).make(s, rows < 32 ? 5000 : 500, fixed);
            return all;
          };
          double best = seconds(0);
          for (std::int32_t k = 1; k <= 8; ++k) best = std::min(best, seconds(k));
          EXPECT_LT(seconds(-1), 1.12 * best)
              << fmt::format("{} rows, agreement {}, {} each, noise {}", rows, agreement, each, noise);
        }
}

// What does not pay is lost in at most two steps and 3% of the time, also in short texts.
TEST(ProposalLength, LosesLittleWhereNothingIsAccepted) {
  for (const std::int64_t tokens : {10, 50, 200, 2000, 20'000})
    for (const double agreement : {0.0, 0.05, 0.15})
      for (const double each : {0.2, 0.5, 1.5}) {
        Simulation search;
        EXPECT_LT(search.make({.agreement = agreement, .each = each}, tokens),
                  1.03 * static_cast<double>(tokens) + 2 + 8 * each)
            << fmt::format("{} tokens, agreement {}, {} each", tokens, agreement, each);
      }
}

TEST(ProposalLength, FollowsTheText) {
  const Simulated copied{.agreement = 0.97, .each = 0.05}, own{.agreement = 0.02, .each = 0.4};
  Simulation search;
  for (int i = 0; i < 10; ++i) {
    EXPECT_LT(search.make(own, 2000), 1.05 * 2000);
    EXPECT_LT(search.make(copied, 2000), 0.4 * 2000) << i;
  }
}

TEST(ProposalLength, ProposalsThatAreSeldomThereCostNothing) {
  Simulation search;
  EXPECT_LT(search.make({.agreement = 0.9, .each = 0.1, .available = 0.1}, 5000), 5000);
  EXPECT_GT(search.mean_length(), 1);
}

TEST(ProposalLength, TheLongestIsRespected) {
  Simulation search(1);
  EXPECT_LT(search.make({.agreement = 0.9, .each = 0.1}, 1000), 650);
  EXPECT_LE(search.mean_length(), 1);
}

// A proposer with a model has to catch up after steps without proposals. This costs time, and is no measure of other steps.
TEST(ProposalLength, ProposersThatCatchUp) {
  for (const double agreement : {0.0, 0.9}) {
    ProposalLength length(4);
    double seconds = 0;
    std::int64_t made = 0, waiting = 0;
    RandomSequence random(1, 1);
    for (; made < 3000; ++made) {
      const std::int32_t k = length.next(1);
      const bool catches_up = k > 0 && waiting > 1;
      const std::vector<std::int32_t> proposed{k};
      std::vector<std::int32_t> accepted{0};
      while (accepted[0] < k && random.uniform() < agreement) ++accepted[0];
      const double time = 1 + 0.15 * k + (catches_up ? 0.02 * static_cast<double>(waiting) : 0);
      length.add({1, k, proposed, accepted, time, catches_up});
      seconds += time, made += accepted[0], waiting = k > 0 ? 0 : waiting + 1;
    }
    EXPECT_LT(seconds, agreement > 0 ? 0.5 * 3000 : 1.035 * 3000) << agreement;
  }
}

// A step that something else held up does not decide.
TEST(ProposalLength, OneSlowStepIsForgotten) {
  ProposalLength length(4);
  const std::vector<std::int32_t> none{0};
  const auto plain = [&](double seconds) { length.add({1, 0, none, none, seconds}); };
  for (int i = 0; i < 20; ++i) plain(1);
  plain(1000);
  for (int i = 0; i < 5; ++i) plain(1);
  for (int i = 0; i < 200; ++i) {
    const std::int32_t k = length.next(1);
    const std::vector<std::int32_t> proposed{k};
    length.add({1, k, proposed, none, 1 + 0.5 * k});
  }
  EXPECT_EQ(length.next(1), 0);
}

// The first step of a length, and every fifth step, is held up. Useless proposals still cost at most 3%, and useful ones are still
// found.
TEST(ProposalLength, SlowFirstStepsAreForgotten) {
  for (const bool plain_is_slow : {false, true})
    for (const double agreement : {0.0, 0.9}) {
      ProposalLength length(4);
      RandomSequence random(1, 5);
      std::int64_t plain = 0, others = 0;
      double usual = 0, tokens = 0;  // the seconds without what held steps up
      for (int i = 0; i < 1000; ++i) {
        const std::int32_t k = length.next(4);
        const std::int64_t number = k == 0 ? plain++ : others++;
        const bool held_up = (number == 0 && (k == 0) == plain_is_slow) || i % 5 == 4;
        const std::vector<std::int32_t> proposed(4, k);
        std::vector<std::int32_t> accepted(4, 0);
        for (std::int32_t& n : accepted)
          while (n < k && random.uniform() < agreement) ++n;
        const double seconds = 1 + 0.2 * k;
        usual += seconds;
        for (const std::int32_t n : accepted) tokens += 1 + n;
        length.add({4, k, proposed, accepted, held_up ? 4 * seconds : seconds});
      }
      EXPECT_LT(4 * usual / tokens, agreement > 0 ? 0.6 : 1.03) << fmt::format("{} {}", plain_is_slow, agreement);
    }
}

// Nor does a step with proposals that was held up stop them for long.
TEST(ProposalLength, OneSlowStepWithProposalsIsForgotten) {
  ProposalLength length(4);
  std::int64_t proposed_after = 0;
  bool was_held_up = false;
  for (int i = 0; i < 300; ++i) {
    const std::int32_t k = length.next(1);
    const std::vector<std::int32_t> all{k};
    const bool held_up = i > 30 && k > 0 && !std::exchange(was_held_up, true);
    length.add({1, k, all, all, held_up ? 1000 : 1 + 0.1 * k});
    if (was_held_up) proposed_after += k;
  }
  EXPECT_GT(proposed_after, 4 * 200);
}

// Of 16 rows, some may get proposals. These pay only if what they save exceeds what longer steps cost all rows.
TEST(ProposalLength, RowsThatGetNoProposalsCount) {
  for (const std::size_t some : {1, 15}) {
    ProposalLength length(4);
    double seconds = 0, tokens = 0;
    for (int i = 0; i < 2000; ++i) {
      const std::int32_t k = length.next(16, static_cast<double>(some) / 16);
      const std::vector<std::int32_t> all(some, k);
      const double time = 1 + 0.1 * k;  // every proposal is accepted
      length.add({16, k, all, all, time});
      seconds += time, tokens += 16 + static_cast<double>(some) * k;
    }
    // With 4 proposals a step takes 1.4 times as long: for 20 tokens instead of 16, or for 76.
    const double plain = 2000 * 16, relative = tokens / seconds / (plain / 2000);
    if (some == 1)
      EXPECT_GT(relative, 0.97) << "nearly nothing is proposed";
    else
      EXPECT_GT(relative, 0.97 * 76 / 16 / 1.4);
  }
}

}  // namespace
}  // namespace tril::search::proposal_length_test
