// What varies between epochs and sets: mixtures, weights, tags, subword sampling.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "base/rng.h"
#include "corpus/corpus.h"
#include "corpus/mixture.h"
#include "corpus/pair_reader.h"
#include "corpus/vocabulary.h"
#include "support/temporary.h"
#include "tokenizer/files/marian_tokenizer.h"

namespace tril {
namespace {

const std::vector<std::string> stems = {"walk", "talk", "sing", "read", "paint"}, ends = {"ing", "s", "er", "ed", ""};

std::string text(int lines, std::uint64_t seed) {
  RandomSequence random(seed, 2);
  std::string text;
  for (int i = 0; i < lines; ++i) {
    for (std::uint64_t n = 1 + random.below(6); n > 0; --n)
      text += stems[random.below(5)] + ends[random.below(5)] + " ";
    text += "\n";
  }
  return text;
}

std::shared_ptr<const Tokenizer> tokenizer_of(SubwordKind model) {
  static std::map<SubwordKind, std::string> learned;
  std::string& spm = learned[model];
  if (spm.empty()) {
    const TemporaryDirectory at;
    VocabularyOptions options;
    options.model = model;
    options.size = 40;
    spm = train_sentencepiece(std::vector<TextSource>{{at.write("text", text(300, 1))}}, options);
  }
  return make_marian_tokenizer({.source_spm = spm, .target_spm = spm, .tags = {">>aa<<", ">>bb<<"}});
}

// Three sets of 40, 200 and 120 pairs with weights and tags.
CorpusOptions three_sets(const TemporaryDirectory& at) {
  CorpusOptions o;
  const std::vector<int> sizes = {40, 200, 120};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::string name(1, static_cast<char>('a' + i));
    o.source.push_back(at.write(name + ".src", text(sizes[i], 10 + i)));
    o.target.push_back(at.write(name + ".tgt", text(sizes[i], 20 + i)));
    std::string weights;
    for (int line = 0; line < sizes[i]; ++line) weights += fmt::format("{}\n", (line % 8 + 1) / 4.0);
    o.weights.push_back(at.write(name + ".w.gz", gzip(weights)));
  }
  o.tags = {">>aa<<", ">>bb<<", ""};
  o.mix = true;
  o.max_tokens = 100;
  o.pool_batches = 5;
  return o;
}

// Everything at once, in memory and streamed.
class Everything : public testing::TestWithParam<std::tuple<SubwordKind, std::int64_t>> {};
INSTANTIATE_TEST_SUITE_P(Corpus, Everything,
                         testing::Combine(testing::Values(SubwordKind::bpe, SubwordKind::unigram),
                                          testing::Values(1 << 30, 16'384)));

TEST_P(Everything, GoesOnExactlyFromAnyBatch) {
  const TemporaryDirectory at;
  const auto tokenizer = tokenizer_of(std::get<0>(GetParam()));
  CorpusOptions options = three_sets(at);
  options.memory_bytes = std::get<1>(GetParam());
  options.temperature = 3;
  if (std::get<0>(GetParam()) == SubwordKind::bpe)
    options.source_sampling.bpe_dropout = options.target_sampling.bpe_dropout = 0.2;
  else
    options.source_sampling.unigram_alpha = options.target_sampling.unigram_alpha = 0.3;
  Corpus whole(options, tokenizer);
  std::vector<Batch> batches;
  std::vector<CorpusState> states = {whole.state()};
  while (whole.state().epoch < 3) {
    batches.push_back(whole.next());
    states.push_back(whole.state());
  }
  for (std::size_t killed = 0; killed < batches.size(); killed += 5) {
    const CorpusState state = nlohmann::json::parse(nlohmann::json(states[killed]).dump());
    CorpusOptions other = options;
    other.prefetch = static_cast<int>(killed % 3);
    other.threads = 1 + static_cast<int>(killed % 2);
    Corpus resumed(other, tokenizer, state);
    for (std::size_t i = killed; i < std::min(killed + 20, batches.size()); ++i) {
      ASSERT_EQ(resumed.next(), batches[i]) << "killed at " << killed << ", batch " << i;
      ASSERT_EQ(resumed.state(), states[i + 1]);
    }
  }
}

TEST(Corpus, SampledSubwordsDifferByEpochAndKeepTheText) {
  const TemporaryDirectory at;
  const auto tokenizer = tokenizer_of(SubwordKind::bpe);
  CorpusOptions options;
  options.source = {at.write("s", text(100, 3))};
  options.target = {at.write("t", text(100, 4))};
  options.target_sampling.bpe_dropout = 0.3;
  Corpus corpus(options, tokenizer);
  CorpusOptions plain_options = options;
  plain_options.target_sampling = {};
  std::map<std::int64_t, Batch> plain;  // by line
  for (const Batch& b : read_batches(plain_options, tokenizer))
    for (std::int64_t i = 0; i < b.sentences(); ++i)
      plain[b.lines[static_cast<std::size_t>(i)]].append(b.source_row(i), b.target_row(i), 0);
  std::map<std::int64_t, std::set<std::vector<std::int32_t>>> seen;
  int pairs = 0;
  while (corpus.state().epoch < 5) {
    const Batch b = corpus.next();
    EXPECT_LE(b.target_tokens(), options.max_tokens);
    for (std::int64_t i = 0; i < b.sentences(); ++i, ++pairs) {
      const std::int64_t line = b.lines[static_cast<std::size_t>(i)];
      const auto source = b.source_row(i), target = b.target_row(i);
      const Batch& p = plain[line];
      EXPECT_TRUE(std::equal(source.begin(), source.end(), p.source_ids.begin(), p.source_ids.end()));
      EXPECT_EQ(tokenizer->decode(target, Side::target), tokenizer->decode(p.target_ids, Side::target));
      seen[line].insert({target.begin(), target.end()});
    }
  }
  EXPECT_EQ(pairs, 500);
  std::size_t segmentations = 0;
  for (const auto& [line, several] : seen) segmentations += several.size();
  EXPECT_GT(segmentations, 300u);
}

TEST(Corpus, WeightsAndTagsGoWithTheirPairs) {
  const TemporaryDirectory at;
  const auto tokenizer = tokenizer_of(SubwordKind::bpe);
  CorpusOptions options = three_sets(at);
  const std::int32_t aa = *tokenizer->find(">>aa<<", Side::source), bb = *tokenizer->find(">>bb<<", Side::source);
  // Which source and target texts belong to which set and weight.
  std::map<std::pair<std::string, std::string>, std::multiset<std::pair<std::int32_t, float>>> expected, found;
  const std::int32_t tags[] = {aa, bb, -1};
  for (std::size_t set = 0; set < 3; ++set) {
    const auto source = read_lines(options.source[set]), target = read_lines(options.target[set]);
    for (std::size_t i = 0; i < source.size(); ++i)
      expected[{source[i].substr(0, source[i].size() - 1), target[i].substr(0, target[i].size() - 1)}].emplace(
          tags[set], static_cast<float>(i % 8 + 1) / 4);
  }
  CorpusStatistics statistics;
  for (const Batch& batch : read_batches(options, tokenizer, &statistics))
    for (const Batch& b : split(batch, 2)) {
      ASSERT_EQ(b.weights.size(), static_cast<std::size_t>(b.sentences()));
      const std::vector<float> of_tokens = b.token_weights();
      ASSERT_EQ(of_tokens.size(), static_cast<std::size_t>(b.target_tokens()));
      for (std::int64_t i = 0; i < b.sentences(); ++i) {
        std::span<const std::int32_t> source = b.source_row(i);
        const bool tagged = source[0] == aa || source[0] == bb;
        const float weight = b.weights[static_cast<std::size_t>(i)];
        for (std::int64_t t = b.target.begin(i); t < b.target.end(i); ++t)
          EXPECT_EQ(of_tokens[static_cast<std::size_t>(t)], weight);
        found[{tokenizer->decode(tagged ? source.subspan(1) : source, Side::source),
               tokenizer->decode(b.target_row(i), Side::target)}]
            .emplace(tagged ? source[0] : -1, weight);
      }
    }
  EXPECT_EQ(found, expected);
  EXPECT_EQ(statistics.used, 360);
}

TEST(Corpus, RefusesWeightsThatAreNone) {
  const TemporaryDirectory at;
  CorpusOptions options;
  options.source = {at.write("s", "walk\ntalk\nsing\n")};
  options.target = {at.write("t", "walk\ntalk\nsing\n")};
  const auto error = [&](const std::string& weights) {
    options.weights = {at.write("w", weights)};
    return error_of([&] { read_batches(options, tokenizer_of(SubwordKind::bpe)); });
  };
  EXPECT_TRUE(contains(error("1\n-0.5\n1\n"), "w: line 2: ", "weight of 0 or more", "\"-0.5\""));
  EXPECT_TRUE(contains(error("1\n1\nnan\n"), "w: line 3: expected a weight"));
  EXPECT_TRUE(contains(error("inf\n1\n1\n"), "w: line 1: expected a weight"));
  EXPECT_TRUE(contains(error("1\n1 1\n1\n"), "w: line 2: expected a weight"));
  EXPECT_TRUE(contains(error("1\n\n1\n"), "w: line 2: expected a weight"));
  EXPECT_TRUE(contains(error("1\n1\n"), "w: has 2 weights, "));
  EXPECT_TRUE(contains(error("1\n1\n1\n1\n"), "w: has 4 weights, "));
  EXPECT_EQ(error("1\n0\n 1e-3 \n"), "");
  CorpusStatistics statistics;
  const auto batches = read_batches(options, tokenizer_of(SubwordKind::bpe), &statistics);
  EXPECT_EQ(batches[0].sentences(), 2);  // a weight of 0 leaves the pair out
  EXPECT_EQ(statistics.weightless, 1);
  EXPECT_TRUE(contains(statistics.report(), "1 of weight 0"));
}

TEST(Corpus, RefusesATagThatIsNoToken) {
  const TemporaryDirectory at;
  CorpusOptions options;
  options.source = {at.write("s", "walk\n")};
  options.target = {at.write("t", "walk\n")};
  options.tags = {">>cc<<"};
  const std::string error = error_of([&] { Corpus(options, tokenizer_of(SubwordKind::bpe)); });
  EXPECT_TRUE(contains(error, "language_tags: ", "no \">>cc<<\""));
}

// --- mixtures ---

TEST(Mixture, RatesFollowTheFormulas) {
  const std::vector<std::int64_t> sizes = {100, 900};
  EXPECT_EQ(pair_rates(sizes, 1, {}), (std::vector<double>{1, 1}));
  const auto rates = pair_rates(sizes, 2, {});  // shares 10 : 30
  EXPECT_NEAR(rates[0], 2.5, 1e-12);
  EXPECT_NEAR(rates[1], 750.0 / 900, 1e-12);
  const auto given = pair_rates(sizes, 1, {1, 1});
  EXPECT_NEAR(given[0], 5, 1e-12);
  EXPECT_NEAR(given[1], 500.0 / 900, 1e-12);
}

TEST(Mixture, PairsOfASetComeEquallyOften) {
  for (const double rate : {0.3, 1.0, 2.5, 7.0}) {
    std::int64_t in_first = 0;
    for (std::int64_t pair = 0; pair < 1000; ++pair) {
      std::int64_t sum = 0;
      for (std::int64_t epoch = 0; epoch < 20; ++epoch) {
        const std::int64_t times = times_in_epoch(rate, 1, pair, epoch);
        EXPECT_GE(times, static_cast<std::int64_t>(std::floor(rate)));
        EXPECT_LE(times, static_cast<std::int64_t>(std::ceil(rate)));
        if (epoch == 0) in_first += times;
        sum += times;
      }
      EXPECT_NEAR(static_cast<double>(sum), 20 * rate, 1);
    }
    EXPECT_NEAR(static_cast<double>(in_first), 1000 * rate, 80);
  }
}

TEST(Mixture, EpochsHoldTheSharesAskedFor) {
  const TemporaryDirectory at;
  const auto tokenizer = tokenizer_of(SubwordKind::bpe);
  CorpusOptions options = three_sets(at);
  options.weights.clear();
  options.tags = {">>aa<<", ">>bb<<", ""};
  options.shares = {2, 1, 1};
  for (const std::int64_t memory : {1 << 30, 16'384}) {
    options.memory_bytes = memory;
    Corpus corpus(options, tokenizer);
    std::map<std::int32_t, double> pairs;
    std::map<std::int64_t, int> times;
    while (corpus.state().epoch < 4) {
      const Batch b = corpus.next();
      for (std::int64_t i = 0; i < b.sentences(); ++i) {
        pairs[b.source_row(i)[0] == *tokenizer->find(">>aa<<", Side::source)] += 0.25;
        ++times[b.lines[static_cast<std::size_t>(i)]];
      }
    }
    EXPECT_NEAR(pairs[1], 180, 2);  // half of 360
    EXPECT_NEAR(pairs[0], 180, 12);
    EXPECT_EQ(times.size(), 360u);  // within four epochs each occurred
  }
}

TEST(Mixture, ReadsAnyStretchFromEverySetAndSkipsExactly) {
  const TemporaryDirectory at;
  CorpusOptions options;
  const std::vector<std::int64_t> sizes = {3, 7000, 1500};
  for (std::size_t set = 0; set < sizes.size(); ++set) {
    std::string lines;
    for (std::int64_t i = 0; i < sizes[set]; ++i) lines += fmt::format("{}\n", i);
    options.source.push_back(at.write(fmt::format("s{}", set), lines));
    options.target.push_back(at.write(fmt::format("t{}", set), lines));
  }
  EXPECT_EQ(count_pairs(options), sizes);
  std::vector<std::pair<std::size_t, std::string>> all;
  PairReader reader(options, sizes);
  for (PairText pair; reader.next(pair);) {
    EXPECT_EQ(pair.source, pair.target);
    all.emplace_back(pair.set, pair.source);
  }
  ASSERT_EQ(all.size(), 8503u);
  std::vector<std::int64_t> next(3);
  for (const auto& [set, line] : all) EXPECT_EQ(line, fmt::format("{}", next[set]++));
  EXPECT_EQ(next, sizes);
  const auto third = std::count_if(all.begin(), all.begin() + 4000, [](const auto& p) { return p.first == 2; });
  EXPECT_NEAR(static_cast<double>(third), 4000 * 1500 / 8503.0, 200);

  RandomSequence random(1, 7);
  for (int trial = 0; trial < 100; ++trial) {
    PairReader jumping(options, sizes);
    PairText pair;
    for (std::int64_t at_pair = 0;;) {
      const auto jump = static_cast<std::int64_t>(random.below(trial % 2 ? 9000 : 700));
      jumping.skip(jump);
      at_pair = std::min<std::int64_t>(at_pair + jump, 8503);
      ASSERT_EQ(jumping.position(), at_pair);
      if (!jumping.next(pair)) {
        ASSERT_EQ(at_pair, 8503);
        break;
      }
      ASSERT_EQ(std::pair(pair.set, pair.source), all[static_cast<std::size_t>(at_pair++)]);
    }
  }
}

TEST(Mixture, FindsFilesThatDoNotFit) {
  const TemporaryDirectory at;
  CorpusOptions options = three_sets(at);
  options.target[1] = at.write("long", text(201, 1));
  const std::string error = error_of([&] { Corpus(options, tokenizer_of(SubwordKind::bpe)); });
  EXPECT_TRUE(contains(error, "long: has 201 lines, "));
}

}  // namespace
}  // namespace tril
