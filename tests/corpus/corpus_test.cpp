#include "corpus/corpus.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "base/file.h"
#include "corpus/chunk.h"
#include "support/numbered_pairs.h"
#include "support/paths.h"
#include "support/temporary.h"
#include "tokenizer/files/sentence_frame.h"

namespace tril::corpus_test {
namespace {

using namespace numbered;

// In memory, and streamed through chunks of some 30 pairs.
class AnyMemory : public testing::TestWithParam<std::int64_t> {};
INSTANTIATE_TEST_SUITE_P(Corpus, AnyMemory, testing::Values(1 << 30, 8'192));

TEST_P(AnyMemory, GivesEverySentenceOnceAnEpoch) {
  const TemporaryDirectory at;
  CorpusOptions options = options_for(at, 701);
  options.memory_bytes = GetParam();
  Corpus corpus(options, words);
  std::vector<std::vector<std::int64_t>> orders;
  std::int64_t sentences = 0, target_tokens = 0, batches = 0;
  for (int epoch = 0; epoch < 3; ++epoch) {
    std::vector<std::int64_t> order;
    for (bool last = false; !last;) {
      const Batch batch = corpus.next();
      ASSERT_NO_FATAL_FAILURE(expect_sound(batch, options));
      EXPECT_EQ(batch.epoch, epoch);
      order.insert(order.end(), batch.lines.begin(), batch.lines.end());
      last = batch.last_of_epoch;
      sentences += batch.sentences();
      target_tokens += batch.target_tokens();
      ++batches;
      EXPECT_EQ(corpus.state().epoch, last ? epoch + 1 : epoch);
    }
    EXPECT_EQ(corpus.state().batch_in_epoch, 0);
    EXPECT_EQ(order.size(), 701u);
    EXPECT_EQ(std::set(order.begin(), order.end()).size(), 701u);
    EXPECT_FALSE(std::is_sorted(order.begin(), order.end()));
    orders.push_back(order);
  }
  EXPECT_NE(orders[0], orders[1]);
  EXPECT_NE(orders[1], orders[2]);
  EXPECT_EQ(corpus.state().sentences, sentences);
  EXPECT_EQ(corpus.state().target_tokens, target_tokens);
  EXPECT_EQ(corpus.state().batches, batches);
  const CorpusStatistics statistics = corpus.statistics();
  EXPECT_TRUE(statistics.complete);
  EXPECT_EQ(statistics.lines, 701);
  EXPECT_EQ(statistics.used, 701);
  EXPECT_EQ(statistics.target_tokens * 3, target_tokens);
  EXPECT_EQ(statistics.in_memory, GetParam() > 100'000);
}

TEST_P(AnyMemory, GoesOnExactlyFromAnyBatch) {
  const TemporaryDirectory at;
  CorpusOptions options = options_for(at, 311);
  options.memory_bytes = GetParam();
  Corpus whole(options, words);
  std::vector<Batch> batches;
  std::vector<CorpusState> states = {whole.state()};
  while (whole.state().epoch < 3) {
    batches.push_back(whole.next());
    states.push_back(whole.state());
  }
  const auto total = static_cast<std::int64_t>(batches.size());
  for (std::int64_t killed = 0; killed < total; ++killed) {
    // Through JSON, and with another prefetch: the threads' timing must not matter.
    CorpusState state = nlohmann::json::parse(nlohmann::json(states[static_cast<std::size_t>(killed)]).dump());
    ASSERT_EQ(state, states[static_cast<std::size_t>(killed)]);
    CorpusOptions other = options;
    other.prefetch = static_cast<int>(killed % 4);
    other.threads = 1 + static_cast<int>(killed % 3);
    Corpus resumed(other, words, state);
    const std::int64_t count = std::min<std::int64_t>(total - killed, killed % 7 == 0 ? total : 12);
    for (std::int64_t i = killed; i < killed + count; ++i) {
      ASSERT_EQ(resumed.next(), batches[static_cast<std::size_t>(i)]) << "killed at " << killed << ", batch " << i;
      ASSERT_EQ(resumed.state(), states[static_cast<std::size_t>(i) + 1]);
    }
  }
}

TEST_P(AnyMemory, DependsOnTheSeedAlone) {
  const TemporaryDirectory at;
  CorpusOptions options = options_for(at, 200);
  options.memory_bytes = GetParam();
  Corpus a(options, words), b(options, words);
  EXPECT_EQ(take(a, 60), take(b, 60));
  options.seed = 2;
  Corpus c(options, words), d(options, words);
  const auto first = take(c, 60);
  EXPECT_EQ(first, take(d, 60));
  Corpus e(options_for(at, 200), words);
  EXPECT_NE(first, take(e, 60));
}

TEST(Corpus, IsTheSameForAnyNumberOfThreads) {
  const TemporaryDirectory at;
  CorpusOptions options = options_for(at, 3'000);
  options.threads = 1;
  for (const std::int64_t memory : {std::int64_t{1} << 30, std::int64_t{2} << 20, std::int64_t{400'000}}) {
    options.memory_bytes = memory;
    const auto alone = read_batches(options, words);
    CorpusOptions many = options;
    many.threads = 5;
    many.prefetch = 3;
    EXPECT_EQ(read_batches(many, words), alone);
  }
}

TEST(Corpus, TokenisesOnceWhatFitsInMemory) {
  const TemporaryDirectory at;
  const auto tokenizer = std::make_shared<Words>();
  Corpus corpus(options_for(at, 150), tokenizer);
  while (corpus.state().epoch < 4) corpus.next();
  EXPECT_EQ(tokenizer->encoded, 300);
}

TEST(Corpus, ReadsChunksWithinTheMemoryBound) {
  const TemporaryDirectory at;
  const CorpusOptions options = options_for(at, 500);
  const Preparation how(options, words);
  PairReader reader = how.reader();
  const std::atomic<bool> stop = false;
  std::int64_t line = 0, chunks = 0;
  for (bool at_end = false; !at_end; ++chunks) {
    const Chunk chunk = read_chunk(reader, how, 0, 5'000, stop);
    EXPECT_LE(chunk.bytes(), 5'000 + 300);  // by one pair at most
    EXPECT_EQ(chunk.first_line, line);
    for (std::size_t i = 0; i < chunk.size(); ++i) EXPECT_EQ(chunk.line(i), line++);
    EXPECT_EQ(chunk.next_line, line);
    at_end = chunk.at_end;
  }
  EXPECT_EQ(line, 500);
  EXPECT_GT(chunks, 10);
}

TEST(Corpus, SortsByLengthWithinPools) {
  const TemporaryDirectory at;
  CorpusOptions options = options_for(at, 2'000);
  const auto spread = [&] {  // mean difference of lengths within a batch
    std::int64_t sum = 0, count = 0;
    for (const Batch& batch : read_batches(options, words)) {
      std::int32_t shortest = 1 << 20;
      for (std::int64_t i = 0; i < batch.sentences(); ++i) shortest = std::min(shortest, batch.target.length(i));
      sum += batch.target.longest() - shortest;
      ++count;
    }
    return static_cast<double>(sum) / static_cast<double>(count);
  };
  options.pool_batches = 50;
  const double sorted = spread();
  options.pool_batches = 0;
  EXPECT_LT(sorted * 5, spread());
}

TEST(Corpus, KeepsTheFilesOrderWhereAsked) {
  const TemporaryDirectory at;
  CorpusOptions options = options_for(at, 99);
  options.shuffle = false;
  options.max_sentences = 4;
  CorpusStatistics statistics;
  std::int64_t line = 0;
  for (const Batch& batch : read_batches(options, words, &statistics)) {
    EXPECT_LE(batch.sentences(), 4);
    for (std::int64_t l : batch.lines) EXPECT_EQ(l, line++);
  }
  EXPECT_EQ(line, 99);
  EXPECT_EQ(statistics.report().substr(0, 9), "99 pairs;");
}

TEST(Corpus, CountsWhatItLeavesOut) {
  const TemporaryDirectory at;
  CorpusOptions options;
  options.source = {at.write("s", "1 2\n\n3\n\xff\n4 4 4 4 4 4\n5\n  \n6\n")};
  options.target = {at.write("t", "1\n2\n\n7\n5\n5 5 5 5 5 5 5\n1\n6 6 6 6 6\n")};
  options.skip_invalid = true;
  options.max_length = 6;
  CorpusStatistics statistics;
  std::multiset<std::int64_t> lines;
  for (const Batch& batch : read_batches(options, words, &statistics))
    lines.insert(batch.lines.begin(), batch.lines.end());
  EXPECT_EQ(lines, (std::multiset<std::int64_t>{0, 7}));
  EXPECT_EQ(statistics, (CorpusStatistics{.lines = 8,
                                          .empty = 3,
                                          .too_long = 2,
                                          .invalid = 1,
                                          .first_empty = at.path("s") + ": line 2",
                                          .first_too_long = at.path("s") + ": line 5",
                                          .first_invalid = at.path("s") + ": line 4",
                                          .used = 2,
                                          .source_tokens = 5,
                                          .target_tokens = 8,
                                          .cropped = false,
                                          .complete = true,
                                          .in_memory = true}));
  EXPECT_EQ(statistics.report(),
            "8 pairs, 3 empty, 2 longer than the limit, 1 not UTF-8, 2 used; 5 source and 8 target tokens");

  options.too_long = TooLong::crop;
  lines.clear();
  for (const Batch& batch : read_batches(options, words, &statistics)) {
    lines.insert(batch.lines.begin(), batch.lines.end());
    EXPECT_LE(batch.target.longest(), 6);
    for (std::int64_t i = 0; i < batch.sentences(); ++i) EXPECT_EQ(batch.target_row(i).back(), 0);
  }
  EXPECT_EQ(lines, (std::multiset<std::int64_t>{0, 4, 5, 7}));
  EXPECT_TRUE(contains(statistics.report(), "2 longer than the limit (cropped)"));
}

// With several corpora, the line refers to its own file, whichever chunk it is in.
TEST(Corpus, SaysWhereTheFirstPairStandsThatItLeavesOut) {
  const TemporaryDirectory at;
  CorpusOptions options;
  std::string many;
  for (int i = 0; i < 3000; ++i) many += "1 2 3\n";
  options.source = {at.write("a.s", many), at.write("b.s", "1\n2\n1 2 3 4 5 6 7 8 9\n1 2 3 4 5 6 7 8 9\n")};
  options.target = {at.write("a.t", many), at.write("b.t", "1\n\n2\n3\n")};
  options.max_length = 6;
  options.memory_bytes = 8'192;
  options.shuffle = false;
  options.prefetch = 0;
  CorpusStatistics statistics;
  read_batches(options, words, &statistics);
  EXPECT_EQ(statistics.first_empty, at.path("b.s") + ": line 2");
  EXPECT_EQ(statistics.first_too_long, at.path("b.s") + ": line 3");
  EXPECT_EQ(statistics.first_invalid, "");
  EXPECT_EQ(statistics.too_long, 2);
}

TEST(Corpus, SaysWhatToTryWhereNoPairCanBeUsed) {
  const TemporaryDirectory at;
  CorpusOptions options;
  options.target = {at.write("t", "1\n2\n")};
  const auto error = [&](const std::string& source) {
    options.source = {at.write("s", source)};
    return error_of([&] { read_batches(options, words); });
  };
  EXPECT_TRUE(contains(error("\n\n"), "both sides of a pair need text"));
  options.skip_invalid = true;
  EXPECT_TRUE(contains(error("\xff\n\xfe\n"), "UTF-8"));
  options.max_length = 3;
  EXPECT_TRUE(contains(error("1 2 3 4\n1 2 3 4\n"), "raise `max_length`"));
  options.weights = {at.write("w", "0\n0\n")};
  EXPECT_TRUE(contains(error("1\n1\n"), "weight above 0"));
}

TEST(Corpus, LeavesOutAPairAboveTheBudget) {
  const TemporaryDirectory at;
  CorpusOptions options;
  options.source = {at.write("s", "1 2 3 4 5 6 7 8 9 10\n1\n")};
  options.target = {at.write("t", "1\n2\n")};
  options.max_tokens = 8;
  CorpusStatistics statistics;
  const auto batches = read_batches(options, words, &statistics);
  ASSERT_EQ(batches.size(), 1u);
  EXPECT_EQ(batches[0].lines, std::vector<std::int64_t>{1});
  EXPECT_EQ(statistics.too_long, 1);
}

TEST(Corpus, ReadsTabSeparatedFiles) {
  const TemporaryDirectory at;
  CorpusOptions options;
  options.tsv = {at.write("a.tsv", "x\t1 2\t3\nx\t4\t5\ty\n"), at.write("b.tsv.gz", gzip("x\t6\t7\n"))};
  options.source_column = 2;
  options.target_column = 1;
  options.shuffle = false;
  const auto batches = read_batches(options, words);
  ASSERT_EQ(batches.size(), 1u);
  EXPECT_EQ(batches[0].source_ids, (std::vector<std::int32_t>{6, 0, 8, 0, 10, 0}));
  EXPECT_EQ(batches[0].target_ids, (std::vector<std::int32_t>{4, 5, 0, 7, 0, 9, 0}));
  EXPECT_EQ(batches[0].lines, (std::vector<std::int64_t>{0, 1, 2}));

  options.tsv.push_back(at.write("c.tsv", "x\t1\t2\nx\t1\n"));
  const std::string error = error_of([&] { read_batches(options, words); });
  EXPECT_TRUE(contains(error, "c.tsv: line 2: ", "2 tab-separated columns", "column 3"));
}

TEST(Corpus, SaysBothCountsOfUnequalFiles) {
  const TemporaryDirectory at;
  for (const std::int64_t memory : {std::int64_t{1} << 30, std::int64_t{8'192}})
    for (const int prefetch : {0, 4}) {
      CorpusOptions options = options_for(at, 400);
      options.memory_bytes = memory;
      options.prefetch = prefetch;
      options.target = {at.write("short", make_pairs(380, 5).target)};
      Corpus corpus(options, words);
      const auto run = [&] { take(corpus, 1'000); };
      const std::string error = error_of(run);
      EXPECT_TRUE(contains(error, "has 380 lines") && contains(error, "has 400")) << error;
      EXPECT_EQ(error_of([&] { corpus.next(); }), error);  // the error persists
    }
}

// Token alignments are numbered as in scoring, which counts frame tokens; word alignments are not.
TEST(Corpus, AlignmentsGoWithTheFramesOfSentences) {
  const TemporaryDirectory dir;
  dir.write("sentencepiece.bpe.model",
            read_text(test::test_dir() + "/golden/hf/tokenizers/spm_unigram/spm.model", std::size_t{1} << 28));
  dir.write("tokenizer_config.json", R"({"tokenizer_class": "NllbTokenizer", "src_lang": "eng_Latn"})");
  const auto tokenizer = load_tokenizer(dir.path());
  CorpusOptions o;
  o.source = {dir.write("s", "a b\n")}, o.target = {dir.write("t", "c d\n")};
  o.max_tokens = 1000, o.max_length = 100;
  const auto points = [&](const std::string& text, AlignmentUnits units) {
    o.alignments = {dir.write("a", text + "\n")};
    o.alignment_units = units;
    return read_batches(o, tokenizer).at(0).alignments.at(0);
  };
  const auto first = sentence_ids(*tokenizer, "a b", Side::source);
  const auto last = static_cast<std::int32_t>(first.size()) - 1;
  const Alignment of_words = points("0-0", AlignmentUnits::words);
  ASSERT_FALSE(of_words.empty());
  for (const AlignmentPoint& p : of_words) EXPECT_TRUE(p.source >= 1 && p.target >= 1) << "behind the languages";
  EXPECT_EQ(points("0-0 1-1", AlignmentUnits::tokens), (Alignment{{0, 0}, {1, 1}}));
  EXPECT_EQ(points(fmt::format("{}-0", last), AlignmentUnits::tokens), (Alignment{{last, 0}}));
  EXPECT_THROW(points(fmt::format("{}-0", last + 1), AlignmentUnits::tokens), Error);
}

TEST(Corpus, EndsWhileItsThreadsAreAtWork) {
  const TemporaryDirectory at;
  for (int round = 0; round < 30; ++round) {
    CorpusOptions options = options_for(at, 3'000);
    options.memory_bytes = round % 2 ? 8'192 : 1 << 30;
    options.prefetch = 1 + round % 3;
    Corpus corpus(options, words);
    take(corpus, round % 5);
  }
}

TEST(Split, DealsOutByTokens) {
  const TemporaryDirectory at;
  CorpusOptions options = options_for(at, 400);
  options.max_tokens = 2'000;
  for (const Batch& batch : read_batches(options, words))
    for (const int parts : {1, 2, 3, 7}) {
      const std::vector<Batch> split_up = split(batch, parts);
      ASSERT_EQ(split_up.size(), static_cast<std::size_t>(parts));
      EXPECT_EQ(split_up, split(batch, parts));
      std::multiset<std::int64_t> lines;
      std::int64_t least = 1 << 30, most = 0;
      for (const Batch& part : split_up) {
        lines.insert(part.lines.begin(), part.lines.end());
        const std::int64_t tokens = part.source_tokens() + part.target_tokens();
        least = std::min(least, tokens);
        most = std::max(most, tokens);
        for (std::int64_t i = 0; i < part.sentences(); ++i) {
          const auto whole = std::find(batch.lines.begin(), batch.lines.end(), part.lines[static_cast<std::size_t>(i)]);
          const auto row = part.target_row(i), original = batch.target_row(whole - batch.lines.begin());
          EXPECT_TRUE(std::equal(row.begin(), row.end(), original.begin(), original.end()));
        }
      }
      EXPECT_EQ(lines, std::multiset<std::int64_t>(batch.lines.begin(), batch.lines.end()));
      if (batch.sentences() >= 10 * parts) {
        EXPECT_LE(most - least, 44);  // the longest pair
      }
    }
  EXPECT_EQ(split(Batch{}, 3).size(), 3u);
  EXPECT_TRUE(contains(error_of([] { split(Batch{}, 0); }), "at least 1"));
}

}  // namespace
}  // namespace tril::corpus_test
