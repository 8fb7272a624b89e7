#include "decode/texts/word_boundary.h"

#include <gtest/gtest.h>

#include "corpus/vocabulary.h"
#include "support/temporary.h"
#include "tokenizer/files/marian_tokenizer.h"

namespace tril {
namespace {

// The text with a bar at each boundary.
std::string barred(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at <= text.size(); ++at) {
    const bool inside = at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
    if (!inside && is_word_boundary(text, at)) out += '|';
    if (at < text.size()) out += text[at];
  }
  return out;
}

TEST(WordBoundary, IsWhereAWordMayBeginOrEnd) {
  EXPECT_EQ(barred(""), "|");
  EXPECT_EQ(barred("a dog"), "|a| |dog|");
  EXPECT_EQ(barred("dog's"), "|dog|'|s|");
  EXPECT_EQ(barred("x2 (U)"), "|x2| |(|U|)|");
  EXPECT_EQ(barred("Übergröße-Maß"), "|Übergröße|-|Maß|");
  EXPECT_EQ(barred("cafe\u0301s"), "|cafe\u0301s|") << "an accent of its own belongs to the word";
  EXPECT_EQ(barred("Москва река"), "|Москва| |река|");
  EXPECT_EQ(barred("東京tower"), "|東|京|tower|") << "Han has no spaces";
  EXPECT_EQ(barred("한국어"), "|한국어|");
}

TEST(WordBoundary, PiecesAreOfThreeKinds) {
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
