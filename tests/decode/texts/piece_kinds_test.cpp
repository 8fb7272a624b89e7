#include "decode/texts/piece_kinds.h"

#include <gtest/gtest.h>

#include "corpus/vocabulary.h"
#include "support/temporary.h"
#include "tokenizer/files/marian_tokenizer.h"

namespace tril {
namespace {

TEST(PieceKinds, AreThree) {
  std::string text;
  for (int i = 0; i < 40; ++i) text += "a dog runs, in the snow.\nthe old dog and the ball!\n";
  const TemporaryDirectory folder;
  const std::string corpus = folder.write("corpus", text);
  VocabularyOptions options;
  options.size = 50;
  MarianParts parts;
  parts.source_spm = parts.target_spm = train_sentencepiece(std::vector<TextSource>{{corpus, -1}}, options);
  const auto tokenizer = make_marian_tokenizer(parts);
  const auto kinds = piece_kinds(*tokenizer, Side::target);
  ASSERT_EQ(static_cast<std::int32_t>(kinds.size()), tokenizer->size(Side::target));
  const auto kind_of = [&](std::string_view piece) {
    const auto id = tokenizer->find(piece, Side::target);
    EXPECT_TRUE(id.has_value()) << piece;
    return kinds[static_cast<std::size_t>(id.value_or(0))];
  };
  EXPECT_EQ(kind_of("\u2581the"), PieceKind::begins_word);
  EXPECT_EQ(kind_of("o"), PieceKind::continues_word);
  EXPECT_EQ(kind_of("."), PieceKind::other);
  EXPECT_EQ(kinds[static_cast<std::size_t>(tokenizer->special(Side::target).eos)], PieceKind::other);
}

}  // namespace
}  // namespace tril
