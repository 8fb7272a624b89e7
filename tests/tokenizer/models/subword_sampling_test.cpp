#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "corpus/vocabulary.h"
#include "support/paths.h"
#include "support/rounds.h"
#include "support/temporary.h"
#include "tokenizer/files/marian_tokenizer.h"
#include "tokenizer/models/bpe_dropout.h"
#include "tokenizer/models/unigram_sampling.h"

namespace tril::subword_sampling_test {
namespace {

using Ids = std::vector<std::int32_t>;

std::string golden_spm(const std::string& model) {
  return read_sentencepiece(test::test_dir() + "/golden/hf/tokenizers/" + model + "/spm.model");
}

std::shared_ptr<const Tokenizer> tokenizer_of(const std::string& spm) {
  return make_marian_tokenizer({.source_spm = spm, .target_spm = spm, .tags = {">>de<<"}});
}

// The lines of the golden cases, and many of random characters, spaces, unknown ones and special tokens.
std::vector<std::string> many_lines() {
  std::vector<std::string> lines;
  const std::string cases = test::test_dir() + "/golden/hf/tokenizers/spm_bpe/cases.json";
  for (const auto& c : nlohmann::json::parse(read_text(cases, 1 << 24))) lines.push_back(c["text"].get<std::string>());
  const std::vector<std::string> parts = {
      "a",      "b", "the", "in",     "er",     "th",         " ",    " ",  "  ", "e", "n",      "s",     "ing",
      "\u00e4", "7", ",",   "\u4e2d", "\u6587", "\U0001f600", "</s>", "un", "qu", "Z", ">>de<<", "<0x41>"};
  RandomSequence random(4, 2);
  for (int i = 0; i < 3000; ++i) {
    std::string line;
    for (std::uint64_t n = random.below(40); n > 0; --n) line += parts[random.below(parts.size())];
    lines.push_back(line);
  }
  return lines;
}

std::vector<std::string> words(int lines) {
  const std::vector<std::string> stems = {"walk", "talk", "sing", "read", "paint"}, ends = {"ing", "s", "er", "ed", ""};
  RandomSequence random(8, 8);
  std::vector<std::string> text;
  for (int i = 0; i < lines; ++i) {
    std::string line;
    for (int n = 0; n < 6; ++n) line += stems[random.below(5)] + ends[random.below(5)] + " ";
    text.push_back(line);
  }
  return text;
}

std::string learned(SubwordKind model, bool byte_fallback = false) {
  VocabularyOptions options;
  options.model = model;
  options.size = (byte_fallback ? 256 : 0) + 40;
  options.byte_fallback = byte_fallback;
  return train_sentencepiece(words(300), options);
}

// --- byte pairs ---

// A dropout that is positive but indistinguishable from 0 in a 32-bit draw: every merge is applied.
constexpr double almost_none = 1e-12;

TEST(BpeDropout, WithoutDropoutEqualsSentencePiece) {
  for (const std::string& spm : {golden_spm("spm_bpe"), learned(SubwordKind::bpe), learned(SubwordKind::bpe, true)}) {
    const auto tokenizer = tokenizer_of(spm);
    const auto sampler = tokenizer->sampler(Side::source, {.bpe_dropout = almost_none});
    for (const std::string& line : many_lines()) {
      Ids ids;
      sampler->encode(line, random_key(1, 1), ids);
      ASSERT_EQ(ids, tokenizer->encode(line)) << line;
    }
  }
}

TEST(BpeDropout, AtOneEveryCharacterIsAlone) {
  const auto tokenizer = tokenizer_of(learned(SubwordKind::bpe));
  const auto sampler = tokenizer->sampler(Side::target, {.bpe_dropout = 1});
  Ids ids;
  sampler->encode("walk singer", random_key(1, 1), ids);
  std::vector<std::string> pieces;
  for (std::int32_t id : ids) pieces.push_back(tokenizer->piece(id, Side::target));
  EXPECT_EQ(pieces, (std::vector<std::string>{"\u2581", "w", "a", "l", "k", "\u2581", "s", "i", "n", "g", "e", "r"}));
}

TEST(BpeDropout, KeepsTheTextAndDependsOnTheKeyAlone) {
  const auto tokenizer = tokenizer_of(learned(SubwordKind::bpe));
  const auto sampler = tokenizer->sampler(Side::source, {.bpe_dropout = 0.3});
  std::set<Ids> seen;
  for (std::uint64_t n = 0; n < 200; ++n) {
    Ids ids, again;
    sampler->encode("walking painters read", random_key(1, n), ids);
    sampler->encode("walking painters read", random_key(1, n), again);
    EXPECT_EQ(ids, again);
    EXPECT_EQ(tokenizer->decode(ids, Side::source), "walking painters read");
    seen.insert(ids);
  }
  EXPECT_GT(seen.size(), 50u);
}

SentencePieceFile merges_of(const std::vector<std::string>& pieces) {
  SentencePieceFile file;
  file.algorithm = SubwordAlgorithm::bpe;
  for (std::size_t i = 0; i < pieces.size(); ++i) file.pieces.push_back({pieces[i], -static_cast<float>(i)});
  return file;
}

using Segmentation = std::vector<std::string>;

// How often each segmentation is drawn.
template <class Draw>
std::map<Segmentation, int> count_segmentations(int draws, const Draw& draw) {
  std::map<Segmentation, int> counts;
  for (int n = 0; n < draws; ++n) {
    std::vector<std::string_view> pieces;
    draw(pieces);
    ++counts[Segmentation(pieces.begin(), pieces.end())];
  }
  return counts;
}

// The distribution over segmentations that algorithm 1 of the paper defines, by enumerating all draws.
void follow(const SubwordPieces& model, const Segmentation& symbols, double probability, double p,
            std::map<Segmentation, double>& result) {
  std::vector<std::pair<float, std::size_t>> merges;  // best first
  for (std::size_t i = 0; i + 1 < symbols.size(); ++i)
    if (const auto* piece = model.find(symbols[i] + symbols[i + 1])) merges.emplace_back(-piece->score, i);
  std::sort(merges.begin(), merges.end());
  for (const auto& [rank, i] : merges) {  // applied if all better ones are dropped and it is not
    Segmentation next = symbols;
    next[i] += next[i + 1];
    next.erase(next.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    follow(model, next, probability * (1 - p), p, result);
    probability *= p;
  }
  result[symbols] += probability;
}

TEST(BpeDropout, DrawsFromThePapersDistribution) {
  const SubwordPieces model(merges_of({"ab", "bc", "abc", "cd", "abcd", "dab", "a", "b", "c", "d"}));
  const std::string text = "abcdab";
  const double p = 0.35;
  std::map<Segmentation, double> expected;
  follow(model, {"a", "b", "c", "d", "a", "b"}, 1, p, expected);
  ASSERT_GT(expected.size(), 10u);
  const auto draws = static_cast<int>(test::round_count(200'000));
  RandomSequence random(11, 3);
  std::map<Segmentation, int> counts = count_segmentations(
      draws, [&](std::vector<std::string_view>& pieces) { segment_by_merges(model, text, p, random, pieces); });
  double total = 0;
  for (const auto& [segmentation, probability] : expected) {
    total += probability;
    const double deviation = std::sqrt(probability * (1 - probability) / draws);
    EXPECT_NEAR(counts[segmentation] / static_cast<double>(draws), probability, 5 * deviation + 1e-9);
  }
  EXPECT_NEAR(total, 1, 1e-12);
  EXPECT_EQ(counts.size(), expected.size());
}

TEST(BpeDropout, DropsAMergeAsOftenAsAskedFor) {
  const SubwordPieces model(merges_of({"ab", "a", "b"}));
  for (const double p : {0.05, 0.1, 0.5, 0.9}) {
    RandomSequence random(5, 5);
    int dropped = 0;
    constexpr int words = 100'000;
    for (int n = 0; n < words; ++n) {
      std::vector<std::string_view> pieces;
      segment_by_merges(model, "ab", p, random, pieces);
      dropped += pieces.size() == 2;
    }
    EXPECT_NEAR(dropped / static_cast<double>(words), p, 5 * std::sqrt(p * (1 - p) / words));
  }
}

TEST(BpeDropout, UserDefinedPiecesAreNeitherCutNorMerged) {
  SentencePieceFile file = merges_of({"ab", "abab", "a", "b"});
  file.pieces.push_back({"[ab]", 0, PieceType::user_defined});
  file.pieces.push_back({"b[ab]", 0, PieceType::normal});
  const SubwordPieces model(file);
  RandomSequence random(1, 1);
  for (const double p : {0.0, 1.0}) {
    std::vector<std::string_view> pieces;
    segment_by_merges(model, "ab[ab]ab", p, random, pieces);
    const std::vector<std::string_view> whole = {"ab", "[ab]", "ab"}, cut = {"a", "b", "[ab]", "a", "b"};
    EXPECT_EQ(pieces, p == 0 ? whole : cut);
  }
}

TEST(BpeDropout, IsForBytePairsOnly) {
  const auto tokenizer = tokenizer_of(golden_spm("spm_unigram"));
  const std::string error = error_of([&] { tokenizer->sampler(Side::source, {.bpe_dropout = 0.1}); });
  EXPECT_TRUE(contains(error, "bpe_dropout: the vocabulary was not learned by byte-pair encoding")) << error;
}

// --- unigrams ---

TEST(UnigramSampling, ALargeExponentGivesTheBestSegmentation) {
  for (const std::string& spm : {golden_spm("spm_unigram"), learned(SubwordKind::unigram)}) {
    const auto tokenizer = tokenizer_of(spm);
    const auto sampler = tokenizer->sampler(Side::source, {.unigram_alpha = 1e4});
    int lines = 0, different = 0;
    for (const std::string& line : many_lines()) {
      Ids ids;
      sampler->encode(line, random_key(1, 1), ids);
      different += ids != tokenizer->encode(line);  // two may be equally probable
      ++lines;
    }
    EXPECT_LT(different, lines / 200) << "of " << lines;
  }
}

TEST(UnigramSampling, DrawsFromTheModelsDistribution) {
  SentencePieceFile file;
  file.algorithm = SubwordAlgorithm::unigram;
  for (const auto& [text, p] : std::map<std::string, double>{
           {"a", 0.3}, {"b", 0.2}, {"c", 0.1}, {"ab", 0.15}, {"bc", 0.1}, {"abc", 0.1}, {"ca", 0.05}})
    file.pieces.push_back({text, static_cast<float>(std::log(p))});
  const SubwordPieces model(file);
  const std::string text = "abcab";
  for (const double alpha : {0.3, 1.0, 2.5}) {
    std::map<Segmentation, double> expected;
    double sum = 0;
    for (int cuts = 0; cuts < 16; ++cuts) {  // every way to cut five letters
      Segmentation pieces = {text.substr(0, 1)};
      for (std::size_t i = 1; i < text.size(); ++i) {
        if (cuts >> (i - 1) & 1) pieces.emplace_back();
        pieces.back() += text[i];
      }
      double log_p = 0;
      for (const std::string& piece : pieces)
        log_p += model.find(piece) ? static_cast<double>(model.find(piece)->score) : -INFINITY;
      if (std::isinf(log_p)) continue;
      sum += expected[pieces] = std::exp(alpha * log_p);
    }
    const auto draws = static_cast<int>(test::round_count(100'000));
    RandomSequence random(2, 9);
    std::map<Segmentation, int> counts = count_segmentations(
        draws, [&](std::vector<std::string_view>& pieces) { sample_unigrams(model, text, alpha, random, pieces); });
    for (const auto& [segmentation, weight] : expected) {
      const double p = weight / sum;
      EXPECT_NEAR(counts[segmentation] / static_cast<double>(draws), p, 5 * std::sqrt(p * (1 - p) / draws) + 1e-9);
    }
    EXPECT_LE(counts.size(), expected.size());
  }
}

TEST(UnigramSampling, KeepsTheTextEvenOfUnknownCharacters) {
  const auto tokenizer = tokenizer_of(learned(SubwordKind::unigram, true));
  const auto sampler = tokenizer->sampler(Side::source, {.unigram_alpha = 0.1});
  for (std::uint64_t n = 0; n < 100; ++n) {
    Ids ids;
    sampler->encode("walking \u4e2d\U0001f600 reads", random_key(1, n), ids);
    EXPECT_EQ(tokenizer->decode(ids, Side::source), "walking \u4e2d\U0001f600 reads");
  }
  const std::string error = error_of([&] { tokenizer->sampler(Side::source, {.bpe_dropout = 0.1}); });
  EXPECT_FALSE(error.empty());
}

}  // namespace
}  // namespace tril::subword_sampling_test
