// tril's SentencePiece models against the library: the same ids for any text, in linear time.
#include <gtest/gtest.h>

#include "base/rng.h"
#include "corpus/vocabulary.h"
#include "support/paths.h"
#include "support/rounds.h"
#include "tokenizer/files/marian_tokenizer.h"
#include "tokenizer/files/sentencepiece.h"

namespace tril {
namespace {

using Ids = std::vector<std::int32_t>;

std::string golden_spm(const std::string& model) {
  return read_sentencepiece(test::test_dir() + "/golden/hf/tokenizers/" + model + "/spm.model");
}

std::string learned(SubwordKind kind, Normalization normalization, bool bytes = false, bool keep_spaces = false) {
  std::vector<std::string> lines;
  RandomSequence random(8, 8);
  const std::vector<std::string> words{
      "walk",         "walking", "the", "er",    "\u00e4pfel",         "12",    "caf\u00e9", "snow,",
      "\u3042\u306e", "",        "ing", "under", "\u043c\u0438\u0440", "stone", "light"};
  for (int i = 0; i < 300; ++i) {
    std::string line;
    for (int n = 0; n < 6; ++n) line += words[random.below(words.size())] + words[random.below(words.size())] + " ";
    lines.push_back(line);
  }
  VocabularyOptions options;
  options.model = kind;
  options.size = (bytes ? 256 : 0) + (kind == SubwordKind::unigram ? 60 : 70);
  options.byte_fallback = bytes;
  options.normalization = normalization;
  options.keep_spaces = keep_spaces;
  options.symbols = {"<sep>", "walking"};
  return train_sentencepiece(lines, options);
}

// The library's result for a text, in the tokenizer's ids.
Ids by_library(const SentencePiece& model, const Tokenizer& tokenizer, const std::string& text) {
  std::vector<std::string> pieces;
  EXPECT_TRUE(model.Encode(text, &pieces).ok());
  Ids ids;
  for (const std::string& piece : pieces)
    ids.push_back(tokenizer.find(piece, Side::source).value_or(tokenizer.special(Side::source).unk));
  return ids;
}

std::string some_text(RandomSequence& random) {
  static const std::vector<std::string> parts{"a",
                                              "b",
                                              "the",
                                              "walk",
                                              "ing",
                                              "er",
                                              "th",
                                              " ",
                                              " ",
                                              "  ",
                                              "e",
                                              "n",
                                              "\u00e4",
                                              "7",
                                              ",",
                                              "\u4e2d\u6587",
                                              "\ud55c",
                                              "\u0e01",
                                              "\U0001f600",
                                              "<sep>",
                                              "walking",
                                              "Z",
                                              "\u00a0",
                                              "\u3000",
                                              "\ufb01",
                                              "e\u0301",
                                              "\u2581",
                                              "\t",
                                              "\u200b",
                                              "\x01",
                                              "<0x41>",
                                              "\u0130",
                                              "\uff21",
                                              "snow",
                                              "\u3042\u306e",
                                              "caf\u00e9",
                                              "\ufffd",
                                              "\u00ad"};
  std::string text;
  for (std::uint64_t n = random.below(30); n > 0; --n) text += parts[random.below(parts.size())];
  return text;
}

std::vector<std::pair<std::string, std::string>> models() {
  std::vector<std::pair<std::string, std::string>> list{{"spm_bpe", golden_spm("spm_bpe")},
                                                        {"spm_unigram", golden_spm("spm_unigram")}};
  for (const SubwordKind kind : {SubwordKind::bpe, SubwordKind::unigram, SubwordKind::character})
    for (const Normalization n : {Normalization::nmt_nfkc, Normalization::nfkc_cf, Normalization::identity}) {
      const std::string name = std::to_string(static_cast<int>(kind)) + " " + std::to_string(static_cast<int>(n));
      list.emplace_back(name, learned(kind, n));
      if (kind == SubwordKind::character) continue;
      list.emplace_back(name + " bytes", learned(kind, n, true));
      list.emplace_back(name + " spaces", learned(kind, n, false, true));
    }
  // The same pieces as a model of words: the file's last algorithm field counts.
  list.emplace_back("words", learned(SubwordKind::bpe, Normalization::nmt_nfkc) + "\x12\x02\x18\x03");
  list.emplace_back("words of unigrams", golden_spm("spm_unigram") + "\x12\x02\x18\x03");
  return list;
}

TEST(SentencePieceByItself, MarianIdsAreTheLibrarys) {
  for (const auto& [name, spm] : models()) {
    SCOPED_TRACE(name);
    const auto library = parse_sentencepiece(spm, "the model");
    const auto tokenizer = make_marian_tokenizer({.source_spm = spm, .target_spm = spm});
    test::rounds(1500, [&](RandomSequence& random) {
      const std::string text = some_text(random);
      ASSERT_EQ(tokenizer->encode(text), by_library(*library, *tokenizer, text)) << text;
    });
  }
}

// A joint vocabulary has pieces that this side's model lacks, including runs of characters that are one unknown piece.
TEST(SentencePieceByItself, UnknownsInARowAreLookedUpTogether) {
  for (const SubwordKind kind : {SubwordKind::bpe, SubwordKind::unigram}) {
    const std::string spm = learned(kind, Normalization::nmt_nfkc);
    const auto library = parse_sentencepiece(spm, "the model");
    const auto tokenizer = make_marian_tokenizer(
        {.source_spm = spm, .target_spm = spm, .tags = {"\u4e2d\u6587", "\u4e2d", "\ud55c\ud55c"}});
    const auto id = [&](const std::string& piece) { return *tokenizer->find(piece, Side::source); };
    const Ids ids = tokenizer->encode("walk \u4e2d\u6587 walk\ud55c\ud55cwalk \u6587\u6587");
    EXPECT_EQ(ids, by_library(*library, *tokenizer, "walk \u4e2d\u6587 walk\ud55c\ud55cwalk \u6587\u6587"));
    EXPECT_NE(std::find(ids.begin(), ids.end(), id("\u4e2d\u6587")), ids.end());
    EXPECT_NE(std::find(ids.begin(), ids.end(), id("\ud55c\ud55c")), ids.end());
    EXPECT_EQ(ids.back(), tokenizer->special(Side::source).unk);
  }
}

// The library joins unknown pieces one by one: 3 MB of them would take minutes, and so would a search for a special
// token through the rest of the text at each occurrence of another.
TEST(SentencePieceByItself, TimeGrowsAsTheTextDoes) {
  std::string unknown, special;
  while (unknown.size() < 3'000'000) unknown += "\ud55c";
  while (special.size() < 2'000'000) special += "<unk>";
  for (const SubwordKind kind : {SubwordKind::bpe, SubwordKind::unigram, SubwordKind::character}) {
    const std::string spm = learned(kind, Normalization::nmt_nfkc);
    const auto tokenizer = make_marian_tokenizer({.source_spm = spm, .target_spm = spm});
    EXPECT_LE(tokenizer->encode(unknown).size(), 2u);
    EXPECT_EQ(tokenizer->encode(special).size(), special.size() / 5);
  }
  const auto tokenizer =
      make_marian_tokenizer({.source_spm = golden_spm("spm_unigram"), .target_spm = golden_spm("spm_unigram")});
  Ids ids;
  tokenizer->sampler(Side::source, {.unigram_alpha = 0.2})->encode(unknown, random_key(1, 1), ids);
  EXPECT_LE(ids.size(), 2u);
}

}  // namespace
}  // namespace tril
