// Positions of tokens: in order and within the text; if the tokenizer changes nothing, they cover all of it. And the text of ids.
#include "tokenizer/files/text_tokens.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/rng.h"
#include "support/paths.h"
#include "unicode/trim.h"

namespace tril {
namespace {

std::shared_ptr<const Tokenizer> golden_tokenizer(const std::string& name) {
  return load_tokenizer(test::test_dir() + "/golden/hf/tokenizers/" + name);
}

const char* const kinds[] = {"bpe_llama2",       "bpe_metaspace",   "bytelevel_gpt2",
                             "bytelevel_llama3", "bytelevel_qwen2", "unigram_t5"};

std::string drawn_text(RandomSequence& random) {
  const std::string parts[] = {"the", " book", "  ",  "\u00fcber", "\u4f60\u597d", "\U0001f600", "12",
                               "-",   "\n",    "Fox", "<s>",       "\u00b2",       ".",          "e\u0301"};
  std::string text;
  for (std::uint64_t n = random.below(12); n > 0; --n) text += parts[random.below(std::size(parts))];
  return text;
}

TEST(TextTokens, PlacesAreInOrderAndWithinTheText) {
  for (const char* name : kinds) {
    const auto tokenizer = golden_tokenizer(name);
    const TextTokenizer split(*tokenizer, Side::target);
    RandomSequence random(7, 0);
    for (int i = 0; i < 300; ++i) {
      const std::string text = drawn_text(random);
      SCOPED_TRACE(std::string(name) + ": " + text);
      const TextTokens t = split.tokens_of(text);
      EXPECT_EQ(t.ids, tokenizer->encode(text, Side::target));
      ASSERT_EQ(t.bytes.size(), t.ids.size());
      ASSERT_EQ(t.characters.size(), t.ids.size());
      ASSERT_EQ(t.pieces.size(), t.ids.size());
      std::int64_t before = 0;
      for (std::size_t k = 0; k < t.ids.size(); ++k) {
        const auto [begin, end] = t.bytes[k];
        EXPECT_LE(0, begin);
        EXPECT_LE(before, begin);
        EXPECT_LE(begin, end);
        EXPECT_LE(end, static_cast<std::int64_t>(text.size()));
        const auto characters = static_cast<std::int64_t>(characters_in(text));
        EXPECT_LE(0, t.characters[k].begin);
        EXPECT_LE(t.characters[k].begin, t.characters[k].end);
        EXPECT_LE(t.characters[k].end, characters);
        before = begin;
      }
      const std::string kind = name;
      // Qwen's takes the normal form C.
      if (!kind.starts_with("bytelevel") || (kind == "bytelevel_qwen2" && text.find("\u0301") != text.npos)) continue;
      std::int64_t at = 0;  // these change no text, so that places follow each other
      for (const TokenPlace& p : t.bytes) {
        EXPECT_EQ(p.begin, at);
        at = p.end;
      }
      EXPECT_EQ(at, static_cast<std::int64_t>(text.size()));
      EXPECT_EQ(split.text_of(t.ids, true), text);
    }
  }
}

TEST(TextTokens, ACharacterInPartsIsOfEachPart) {
  const auto tokenizer = golden_tokenizer("bytelevel_gpt2");
  const TextTokenizer split(*tokenizer, Side::target);
  const TextTokens t = split.tokens_of("a\u00b2b");
  ASSERT_GE(t.ids.size(), 3u);
  for (std::size_t k = 0; k < t.ids.size(); ++k) {
    if (t.bytes[k].begin == 2) {
      EXPECT_EQ(t.characters[k].begin, 1);  // the second byte of the second character
    }
    if (t.bytes[k].end == 2) {
      EXPECT_EQ(t.characters[k].end, 2);
    }
  }
  EXPECT_EQ(t.characters.back().end, 3);
}

// Wide letters become plain ones, so their tokens are not in the text. If each were searched for to the end of the text,
// this would take minutes.
TEST(TextTokens, ManyTokensThatAreNotInTheText) {
  const auto tokenizer = golden_tokenizer("unigram_t5");
  const TextTokenizer split(*tokenizer, Side::source);
  std::string text;
  for (int i = 0; i < 50'000; ++i) text += "\uff21\uff22\uff23\uff24";
  const auto size = static_cast<std::int64_t>(text.size());
  const TextTokens lost = split.tokens_of(text);
  ASSERT_GT(lost.ids.size(), 10'000u);
  for (const TokenPlace& p : lost.bytes) ASSERT_TRUE(p.begin == 0 && p.end == size);
  const TextTokens found = split.tokens_of(text + " book");
  EXPECT_EQ(found.bytes.front().end, size + 1);  // the blank too
  EXPECT_EQ(found.bytes.back().begin, size + 1);
  EXPECT_EQ(found.bytes.back().end, size + 5);
}

TEST(TextTokens, SpecialTokensHaveNoPlace) {
  const auto tokenizer = golden_tokenizer("unigram_t5");
  const TextTokenizer split(*tokenizer, Side::source);
  const TextTokens plain = split.tokens_of("the book"), framed = split.tokens_of("the book", true);
  ASSERT_EQ(framed.ids.size(), plain.ids.size() + 1);
  EXPECT_EQ(framed.bytes.back().begin, -1);
  EXPECT_EQ(json_of(framed)["bytes"].back(), nullptr);
  EXPECT_EQ(split.text_of(framed.ids), "the book");
  EXPECT_EQ(split.text_of(framed.ids, true), "the book" + framed.pieces.back());
  EXPECT_THROW(split.text_of(std::vector<std::int32_t>{tokenizer->size(Side::source)}), Error);
  EXPECT_THROW(split.text_of(std::vector<std::int32_t>{-1}), Error);
}

}  // namespace
}  // namespace tril
