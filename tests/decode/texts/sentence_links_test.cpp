// Links by attention: tokens are found in the texts that they stand for.
#include "decode/texts/sentence_links.h"

#include <gtest/gtest.h>

#include "base/as_size.h"
#include "corpus/vocabulary.h"
#include "support/temporary.h"
#include "tokenizer/files/marian_tokenizer.h"

namespace tril::search {
namespace {

std::shared_ptr<const Tokenizer> small_tokenizer_of_dogs() {
  std::string text;
  for (int i = 0; i < 40; ++i) text += "a dog runs, in the snow.\nthe old dog and the ball!\n";
  const TemporaryDirectory folder;
  const std::string corpus = folder.write("corpus", text);
  VocabularyOptions options;
  options.size = 50;
  MarianParts parts;
  parts.source_spm = parts.target_spm = train_sentencepiece(std::vector<TextSource>{{corpus, -1}}, options);
  return make_marian_tokenizer(parts);
}

TEST(SentenceLinks, TokensAreFoundInTheirText) {
  const auto tokenizer = small_tokenizer_of_dogs();
  const std::string text = "the old  dog runs, \u00e4 the dog";
  std::vector<std::int32_t> ids = tokenizer->encode(text);
  ids.push_back(tokenizer->special(Side::source).eos);
  const auto ranges = token_ranges(text, ids, *tokenizer, Side::source);
  ASSERT_EQ(ranges.size(), ids.size());
  EXPECT_TRUE(ranges.back().empty()) << "the end token stands for no text";
  std::string joined;
  for (const document::Range& r : ranges) joined += text.substr(r.begin, r.size());
  EXPECT_EQ(joined, "theolddogruns,thedog") << "all but the unknown character and white space";
}

TEST(SentenceLinks, FollowTheLargestWeights) {
  const auto tokenizer = small_tokenizer_of_dogs();
  Translation t;
  const std::string source = "the dog";
  t.source = tokenizer->encode(source, Side::source);
  t.tokens = tokenizer->encode("dog the", Side::target);
  t.text = "dog the";
  EXPECT_TRUE(sentence_links(t, source, *tokenizer).empty()) << "without attention";
  t.source.push_back(tokenizer->special(Side::source).eos);
  t.attention.assign(t.tokens.size() * t.source.size(), 0.01f);
  // Every target token attends to the source tokens of the same piece, and to the end.
  for (std::size_t k = 0; k < t.tokens.size(); ++k)
    for (std::size_t s = 0; s < t.source.size(); ++s)
      if (tokenizer->piece(t.source[s], Side::source) == tokenizer->piece(t.tokens[k], Side::target))
        t.attention[k * t.source.size() + s] = 0.5f;
  for (const document::Link& l : sentence_links(t, source, *tokenizer))
    EXPECT_EQ(source.substr(l.source.begin, l.source.size()), t.text.substr(l.target.begin, l.target.size()));
  EXPECT_FALSE(sentence_links(t, source, *tokenizer).empty());
}

}  // namespace
}  // namespace tril::search
