// Word alignments: recovered from synthetic text, in both directions, and combined as in the literature.
#include "align/word_aligner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <iterator>

#include "align/align_corpus.h"
#include "base/rng.h"
#include "corpus/reader.h"
#include "corpus/vocabulary.h"
#include "support/temporary.h"
#include "tokenizer/files/marian_tokenizer.h"

namespace tril {
namespace {

// A language of 300 words, some more frequent, each with one translation; two of ten neighbours swap places; one word
// in ten has no translation, and one in ten of the other side has no source.
struct MadeText {
  ParallelWords text;
  std::vector<Alignment> truth;

  explicit MadeText(std::size_t pairs) {
    RandomSequence random(3, 1);
    for (std::size_t p = 0; p < pairs; ++p) {
      std::vector<std::uint64_t> words;
      for (std::uint64_t n = 3 + random.below(12); n > 0; --n) words.push_back(random.below(1 + random.below(300)));
      std::vector<std::size_t> order;  // of the target: source words
      for (std::size_t i = 0; i < words.size(); ++i)
        if (random.below(10) > 0) order.push_back(i);
      for (std::size_t i = 0; i + 1 < order.size(); ++i)
        if (random.below(5) == 0) std::swap(order[i], order[i + 1]);
      std::string source, target;
      for (const std::uint64_t w : words) source += "s" + std::to_string(w) + " ";
      Alignment points;
      std::int32_t at = 0;
      for (const std::size_t i : order) {
        if (random.below(10) == 0) target += "extra" + std::to_string(random.below(5)) + " ", ++at;
        target += "t" + std::to_string(words[i]) + " ";
        points.push_back({static_cast<std::int32_t>(i), at++});
      }
      std::sort(points.begin(), points.end());
      text.add(source, target);
      truth.push_back(points);
    }
  }
};

struct Quality {
  double precision, recall;
};

Quality quality(const std::vector<Alignment>& found, const std::vector<Alignment>& truth) {
  double right = 0, made = 0, wanted = 0;
  for (std::size_t p = 0; p < truth.size(); ++p) {
    Alignment both;
    std::set_intersection(found[p].begin(), found[p].end(), truth[p].begin(), truth[p].end(), std::back_inserter(both));
    right += static_cast<double>(both.size());
    made += static_cast<double>(found[p].size());
    wanted += static_cast<double>(truth[p].size());
  }
  return {right / made, right / wanted};
}

TEST(WordAligner, FindsWhatATextWasMadeOf) {
  const MadeText made(2000);
  // A target word without source, at the place of a source word without translation, looks like its translation.
  for (const auto& [how, precision] : {std::pair(Symmetrization::grow_diag_final_and, 0.9),
                                       {Symmetrization::grow_diag, 0.9},
                                       {Symmetrization::intersection, 0.99}}) {
    WordAlignerOptions o;
    o.symmetrization = how;
    std::atomic<int> iterations{0};
    const Quality q = quality(align_words(made.text, o, [&] { ++iterations; }), made.truth);
    EXPECT_EQ(iterations, 2 * o.iterations);
    EXPECT_GT(q.precision, precision);
    EXPECT_GT(q.recall, 0.98);
  }
  WordAlignerOptions one;  // in the first iteration only the diagonal prior matters
  one.iterations = 1;
  one.symmetrization = Symmetrization::forward;
  WordAlignerOptions five = one;
  five.iterations = 5;
  EXPECT_GT(quality(align_words(made.text, five), made.truth).precision,
            quality(align_words(made.text, one), made.truth).precision);
}

TEST(WordAligner, SymmetrizationsLieWithinEachOther) {
  const MadeText made(200);
  const auto with = [&](Symmetrization how) {
    WordAlignerOptions o;
    o.symmetrization = how;
    return align_words(made.text, o);
  };
  const auto shared = with(Symmetrization::intersection), grown = with(Symmetrization::grow_diag),
             all = with(Symmetrization::grow_diag_final_and), both = with(Symmetrization::all),
             forward = with(Symmetrization::forward), backward = with(Symmetrization::backward);
  const auto within = [](const Alignment& a, const Alignment& b) {
    return std::includes(b.begin(), b.end(), a.begin(), a.end());
  };
  for (std::size_t p = 0; p < shared.size(); ++p) {
    EXPECT_TRUE(within(shared[p], grown[p]) && within(grown[p], all[p]) && within(all[p], both[p]));
    EXPECT_TRUE(within(shared[p], forward[p]) && within(shared[p], backward[p]));
    EXPECT_TRUE(within(forward[p], both[p]) && within(backward[p], both[p]));
    std::vector<std::int32_t> targets;
    for (const AlignmentPoint& point : forward[p]) targets.push_back(point.target);
    std::sort(targets.begin(), targets.end());
    EXPECT_EQ(std::adjacent_find(targets.begin(), targets.end()), targets.end());  // one source word for each
  }
}

TEST(WordAligner, SymmetrizationByHand) {
  const Alignment forward{{0, 0}, {1, 1}, {2, 2}, {4, 5}}, backward{{0, 0}, {1, 1}, {1, 2}, {5, 4}, {7, 7}};
  const auto joined = [&](Symmetrization how) { return to_text(symmetrized(forward, backward, how)); };
  EXPECT_EQ(joined(Symmetrization::intersection), "0-0 1-1");
  EXPECT_EQ(joined(Symmetrization::all), "0-0 1-1 1-2 2-2 4-5 5-4 7-7");
  EXPECT_EQ(joined(Symmetrization::grow_diag), "0-0 1-1 1-2 2-2");
  EXPECT_EQ(joined(Symmetrization::grow_diag_final_and), "0-0 1-1 1-2 2-2 4-5 5-4 7-7");
  EXPECT_EQ(joined(Symmetrization::forward), to_text(forward));
  EXPECT_EQ(joined(Symmetrization::backward), to_text(backward));
  // Of two exclusive neighbours the direct one is chosen, on either side.
  EXPECT_EQ(to_text(symmetrized({{0, 0}, {1, 1}}, {{0, 1}, {1, 1}}, Symmetrization::grow_diag)), "0-0 0-1 1-1");
  EXPECT_EQ(to_text(symmetrized({{1, 1}, {2, 2}}, {{1, 1}, {1, 2}}, Symmetrization::grow_diag)), "1-1 1-2 2-2");
}

TEST(WordAligner, CaseAndPunctuationAtTheEndsDoNotMatter) {
  ParallelWords text;
  text.add("Das Haus, (das) \u00c4u\u00dfere !", "the house . ...");
  text.add("haus \u00e4u\u00dfere", "The HOUSE");
  EXPECT_EQ(text.source_words(), 4u);  // das, haus, aeussere, "!"
  EXPECT_EQ(text.target_words(), 4u);  // the, house, ".", "..."
  EXPECT_EQ(text.source(0)[1], text.source(1)[0]);
  EXPECT_EQ(text.source(0)[3], text.source(1)[1]);
  EXPECT_EQ(text.target(0)[0], text.target(1)[0]);
}

TEST(WordAligner, EmptyLinesAndSingleWordsHaveTheirAlignments) {
  ParallelWords text;
  EXPECT_TRUE(align_words(text, {}).empty());
  text.add("", "x y");
  text.add("a", "");
  text.add("a", "x");
  const std::vector<Alignment> all = align_words(text, {});
  ASSERT_EQ(all.size(), 3u);
  EXPECT_TRUE(all[0].empty() && all[1].empty());
  EXPECT_EQ(to_text(all[2]), "0-0");
  std::string many;
  for (std::size_t i = 0; i <= ParallelWords::most_words; ++i) many += "a ";
  text.add(many, many);
  EXPECT_TRUE(align_words(text, {})[3].empty());
}

TEST(WordAligner, APairWithAnEmptySideTeachesNothing) {
  std::string many;
  for (std::size_t i = 0; i <= ParallelWords::most_words; ++i) many += "a ";
  ParallelWords text;
  EXPECT_FALSE(text.add("a", many));
  text.add("", "x");
  text.add("b", "y");
  EXPECT_EQ(text.target(0).size() + text.target(1).size() + text.source(0).size(), 0u);
  EXPECT_EQ(text.target_words(), 1u);
}

TEST(AlignCorpus, WritesALineForEachPairOfEachSet) {
  const TemporaryDirectory dir;
  CorpusOptions corpus;
  corpus.source = {dir.write("a.src", "a b\n\nb a\n"), dir.write("b.src", "b\n")};
  corpus.target = {dir.write("a.tgt", "x y\n\ny x\n"), dir.write("b.tgt", "y\n")};
  const AlignmentCounts counts = align_corpus(corpus, {dir.path("a.align"), dir.path("b.align")}, {});
  EXPECT_EQ(read_lines(dir.path("a.align")), (std::vector<std::string>{"0-0 1-1", "", "0-0 1-1"}));
  EXPECT_EQ(read_lines(dir.path("b.align")), std::vector<std::string>{"0-0"});
  EXPECT_EQ(counts.pairs, 4);
  EXPECT_EQ(counts.points, 5);
}

TEST(AlignCorpus, TellsOfPairsThatGetNoAlignment) {
  const TemporaryDirectory dir;
  std::string many;
  for (std::size_t i = 0; i <= ParallelWords::most_words; ++i) many += "a ";
  CorpusOptions corpus;
  corpus.source = {dir.write("a.src", "a b\nb a\nb \xff\n"), dir.write("b.src", "a\n" + many + "\n\n")};
  corpus.target = {dir.write("a.tgt", "x y\ny x\ny x\n"), dir.write("b.tgt", "x\ny\n\n")};
  corpus.skip_invalid = true;
  const AlignmentCounts counts = align_corpus(corpus, {dir.path("a.align"), dir.path("b.align")}, {});
  EXPECT_EQ(counts.pairs, 6);
  EXPECT_EQ(counts.too_long, 1);
  EXPECT_EQ(counts.first_too_long, dir.path("b.src") + ": line 2");
  EXPECT_EQ(counts.invalid, 1);
  EXPECT_EQ(counts.first_invalid, dir.path("a.src") + ": line 3");
  EXPECT_EQ(read_lines(dir.path("b.align")), (std::vector<std::string>{"0-0", "", ""}));
}

// Training counts the words of pieces: a character that is not a space in bytes may be one for a vocabulary that
// normalises it, and characters that are left out form no word.
TEST(AlignCorpus, CountsWordsAsTheTokenizerDoes) {
  const TemporaryDirectory dir;
  std::string source, target;
  for (int i = 0; i < 40; ++i) {
    source += "10\u00a0000 red moon\nred \u200b dog moon\n";
    target += "10.000 rot mond\nrot \u200b hund mond\n";
  }
  CorpusOptions corpus;
  corpus.source = {dir.write("a.src", source)};
  corpus.target = {dir.write("a.tgt", target)};
  VocabularyOptions options;
  options.size = 40;
  MarianParts parts;
  parts.source_spm = parts.target_spm =
      train_sentencepiece(std::vector<TextSource>{{corpus.source[0], -1}, {corpus.target[0], -1}}, options);
  const auto tokenizer = make_marian_tokenizer(parts);
  align_corpus(corpus, {dir.path("a.align")}, {}, tokenizer.get());
  const std::vector<std::string> lines = read_lines(dir.path("a.align"));
  const std::vector<std::string> first = words_as_counted("10\u00a0000 red moon", *tokenizer, Side::source);
  EXPECT_EQ(first, (std::vector<std::string>{"10", "000", "red", "moon"}));
  EXPECT_EQ(words_as_counted("red \u200b dog moon", *tokenizer, Side::source).size(), 3u);
  for (const std::string& line : lines)
    for (const AlignmentPoint& p : parse_alignment(line, "test")) EXPECT_TRUE(p.source < 4 && p.target < 4) << line;
  EXPECT_NE(lines[0].find("3-2"), std::string::npos) << lines[0];  // moon, mond
  EXPECT_NE(lines[1].find("2-2"), std::string::npos) << lines[1];
}

}  // namespace
}  // namespace tril
