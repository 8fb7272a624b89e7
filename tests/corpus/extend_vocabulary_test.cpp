#include "corpus/extend_vocabulary.h"

#include <gtest/gtest.h>

#include "base/rng.h"
#include "support/temporary.h"
#include "tokenizer/files/marian_tokenizer.h"
#include "tokenizer/files/sentencepiece.h"
#include "tokenizer/models/subword_pieces.h"

namespace tril {
namespace {

std::string text(const std::vector<std::string>& words, int lines, std::uint64_t seed) {
  RandomSequence random(seed, 2);
  std::string text;
  for (int i = 0; i < lines; ++i) {
    for (std::uint64_t n = 2 + random.below(6); n > 0; --n) text += words[random.below(words.size())] + " ";
    text += "\n";
  }
  return text;
}

const std::vector<std::string> old_words = {"walk", "walking", "talk", "talking", "sing", "singer"};
const std::vector<std::string> new_words = {"kiwi", "kiwis", "\u732b\u732b", "walkman", "tango"};

class Extension : public testing::TestWithParam<SubwordKind> {
 protected:
  Extension() {
    VocabularyOptions options;
    options.model = GetParam();
    options.size = GetParam() == SubwordKind::bpe ? 30 : 20;
    const std::vector<TextSource> files = {{at.write("old", text(old_words, 300, 1))}};
    const std::string spm = train_sentencepiece(files, options);
    before = make_marian_tokenizer({.source_spm = spm, .target_spm = spm});
    save_tokenizer(*before, at.path("model"));
    request.source = {{at.write("new", text(new_words, 300, 2))}};
  }

  TemporaryDirectory at;
  std::shared_ptr<const Tokenizer> before;
  ExtensionRequest request;
};
INSTANTIATE_TEST_SUITE_P(Vocabulary, Extension, testing::Values(SubwordKind::bpe, SubwordKind::unigram));

TEST_P(Extension, KeepsOldIdsAndCutsNewTextIntoFewerPieces) {
  request.count = 14;
  request.tags = {">>de<<"};
  const ExtendedTokenizer more = extend_marian_tokenizer(at.path("model"), request);
  const Tokenizer& after = *more.tokenizer;
  const std::int32_t size = before->size(Side::source);
  EXPECT_EQ(more.old_source, size);
  EXPECT_EQ(after.size(Side::source), size + 15);
  for (std::int32_t id = 0; id < size; ++id) EXPECT_EQ(after.piece(id, Side::source), before->piece(id, Side::source));
  EXPECT_EQ(after.special(Side::target), before->special(Side::target));
  EXPECT_EQ(after.find(">>de<<", Side::source), size + 14);

  std::size_t pieces_before = 0, pieces_after = 0, unknown_before = 0;
  for (const std::string& word : new_words) {
    const auto was = before->encode(word), now = after.encode(word);
    pieces_before += was.size(), pieces_after += now.size();
    unknown_before += static_cast<std::size_t>(std::count(was.begin(), was.end(), 1));
    EXPECT_EQ(std::count(now.begin(), now.end(), 1), 0) << word;
    EXPECT_EQ(after.decode(now, Side::source), word);
  }
  EXPECT_GT(unknown_before, 0u) << "or the test shows less";
  EXPECT_LE(pieces_after, 8u);
  EXPECT_GT(pieces_before, 15u);
  EXPECT_EQ(after.encode(">>de<< kiwi").front(), size + 14);

  // The former pieces of a new piece determine its initial row.
  ASSERT_EQ(more.source_parts.size(), 15u);
  EXPECT_TRUE(more.source_parts.back().empty());
  for (std::size_t i = 0; i < 14; ++i) {
    std::string rest = after.piece(size + static_cast<std::int32_t>(i), Side::source);
    for (const std::int32_t part : more.source_parts[i]) {
      EXPECT_LT(part, size);
      const std::string text = part == 1 ? rest.substr(0, character_length(rest)) : before->piece(part, Side::source);
      EXPECT_TRUE(rest.starts_with(text)) << text << " in " << rest;
      rest.erase(0, text.size());
    }
    EXPECT_EQ(rest, "");
  }
}

TEST_P(Extension, IsReadBackFromItsFiles) {
  request.count = 10;
  const ExtendedTokenizer more = extend_marian_tokenizer(at.path("model"), request);
  save_tokenizer(*more.tokenizer, at.path("wider"));
  const auto read = load_tokenizer(at.path("wider"));
  for (const auto& words : {old_words, new_words})
    for (const std::string& word : words) EXPECT_EQ(read->encode(word), more.tokenizer->encode(word));
  // And again.
  request.count = 3;
  const ExtendedTokenizer again = extend_marian_tokenizer(at.path("wider"), request);
  EXPECT_EQ(again.tokenizer->size(Side::target), read->size(Side::target) + 3);
}

TEST(BytePairs, OldTextStaysAsItWasCut) {
  const TemporaryDirectory at;
  VocabularyOptions options;
  options.size = 40;
  const std::vector<TextSource> files = {{at.write("old", text(old_words, 300, 1))}};
  const std::string spm = train_sentencepiece(files, options);
  const auto pieces = learn_more_pieces(spm, {{at.write("new", text({"kiwi", "kiwis", "tango"}, 300, 2))}}, 15);
  std::vector<SentencePieceEntry> entries;
  for (const NewPiece& piece : pieces) entries.push_back(piece.entry);
  const auto before = parse_sentencepiece(spm, "old"), after = parse_sentencepiece(with_pieces(spm, entries), "new");
  EXPECT_EQ(after->GetPieceSize(), before->GetPieceSize() + static_cast<int>(pieces.size()));
  for (const std::string& word : old_words) EXPECT_EQ(after->EncodeAsPieces(word), before->EncodeAsPieces(word));
}

TEST(BytePairs, TooLittleTextGivesFewerPieces) {
  const TemporaryDirectory at;
  VocabularyOptions options;
  options.size = 30;
  const std::string spm =
      train_sentencepiece(std::vector<TextSource>{{at.write("old", text(old_words, 300, 1))}}, options);
  const auto pieces = learn_more_pieces(spm, {{at.write("new", "kiwi kiwi\n")}}, 1000);
  EXPECT_GT(pieces.size(), 2u);
  EXPECT_LT(pieces.size(), 10u);
}

// The text is selected as for a new vocabulary.
TEST_P(Extension, ReadsTheTextThatItIsTold) {
  request.source = {{at.write("more", "\xff\n" + text(new_words, 300, 2))}};
  request.count = 14;
  EXPECT_TRUE(contains(error_of([&] { extend_marian_tokenizer(at.path("model"), request); }), "not valid UTF-8"));
  request.text.skip_invalid = true;
  const auto pieces = [&] {
    return extend_marian_tokenizer(at.path("model"), request).tokenizer->size(Side::source) -
           before->size(Side::source);
  };
  EXPECT_EQ(pieces(), 14);
  request.text.max_lines = 1;
  EXPECT_LT(pieces(), 14) << "one line has fewer pairs that come twice";
}

}  // namespace
}  // namespace tril
