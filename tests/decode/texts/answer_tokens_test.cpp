// A text does not depend on how it is delivered: token by token, as a whole, or with each token separately. For every
// kind of tokenizer, and any tokens: invalid characters, special tokens, blanks, after prompts that end anywhere.
#include "decode/texts/answer_tokens.h"

#include <gtest/gtest.h>

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>

#include "base/rng.h"
#include "corpus/vocabulary.h"
#include "decode/texts/continuation_text.h"
#include "support/any_tokenizer.h"
#include "support/paths.h"
#include "tokenizer/files/gpt2_tokenizer.h"
#include "tokenizer/files/marian_tokenizer.h"
#include "tokenizer/files/pipeline_tokenizer.h"
#include "tokenizer/files/token_bytes.h"
#include "unicode/characters.h"
#include "unicode/trim.h"

namespace tril::search {
namespace {

namespace fs = std::filesystem;
using Ids = std::vector<std::int32_t>;
using TokenizerPtr = std::shared_ptr<const Tokenizer>;

std::map<std::string, TokenizerPtr> load_all() {
  std::map<std::string, TokenizerPtr> all;
  for (const char* folder : {"/golden/hf/tokenizers", "/tokenizer/files/tokenizer_cases"})
    for (const auto& entry : fs::directory_iterator(test::test_dir() + folder))
      if (fs::exists(entry.path() / "tokenizer.json"))
        all[entry.path().filename().string()] = load_tokenizer(entry.path().string());
  for (const char* name : {"llama", "gpt2"})
    all[std::string("gguf ") + name] =
        test::tokenizer_at(fmt::format("{}/golden/gguf/vocabulary_{}.gguf", test::test_dir(), name));
  for (const char* model : {"spm_bpe", "spm_unigram"}) {
    const std::string spm =
        read_sentencepiece(fmt::format("{}/golden/hf/tokenizers/{}/spm.model", test::test_dir(), model));
    all[std::string("marian ") + model] = make_marian_tokenizer({.source_spm = spm, .target_spm = spm});
  }
  return all;
}

// Samples ids of a vocabulary; parts of characters, blanks and empty tokens are as frequent as all others together.
class Drawing {
 public:
  Drawing(const Tokenizer& tokenizer, const std::vector<std::string>& bytes) {
    for (std::int32_t id = 0; id < tokenizer.size(Side::target); ++id) {
      const std::string& b = bytes[static_cast<std::size_t>(id)];
      all_.push_back(id);
      if (b.empty() || trim(b).empty() || !is_utf8(b)) odd_.push_back(id);
    }
    if (odd_.empty()) odd_ = all_;
    for (const char* text : {"\U0001f600", "\u00e9", "\u20ac", " . a n't"})
      whole_.push_back(tokenizer.encode(text, Side::target));
  }
  Ids ids(RandomSequence& random, std::uint64_t most) const {
    Ids ids;
    for (std::uint64_t n = random.below(most + 1); n > 0; --n) {
      const std::uint64_t which = random.below(8);
      if (which == 0)
        for (const std::int32_t id : whole_[random.below(whole_.size())]) ids.push_back(id);
      else
        ids.push_back(which < 4 ? odd_[random.below(odd_.size())] : all_[random.below(all_.size())]);
    }
    return ids;
  }

 private:
  Ids all_, odd_;
  std::vector<Ids> whole_;
};

std::string plain_text(const Tokenizer& tokenizer, const Ids& before, const Ids& ids) {
  return text_behind(tokenizer, whole_end(tokenizer, before), ids);
}

void for_each_case(const std::function<void(const TokenizerPtr&, const std::vector<std::string>& bytes,
                                            const Ids& before, const Ids& ids, RandomSequence&)>& check) {
  for (const auto& [name, tokenizer] : load_all()) {
    SCOPED_TRACE(name);
    const std::vector<std::string> bytes = token_bytes(*tokenizer);
    const Drawing drawing(*tokenizer, bytes);
    RandomSequence random(11, 3);
    for (int round = 0; round < 200; ++round) {
      const Ids before = drawing.ids(random, 6), ids = drawing.ids(random, round % 10 == 0 ? 60 : 14);
      SCOPED_TRACE(fmt::format("{} | {}", fmt::join(before, " "), fmt::join(ids, " ")));
      check(tokenizer, bytes, before, ids, random);
      if (::testing::Test::HasFailure()) return;
    }
  }
}

// Some characters of a text, likely to occur in others.
std::string part_of(const std::string& text, RandomSequence& random) {
  std::vector<std::string> characters;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t n = bytes_of_character(text, at);
    characters.push_back(text.substr(at, n));
    at += n;
  }
  if (characters.empty()) return "e";
  const std::size_t begin = random.below(characters.size());
  std::string part;
  for (std::size_t i = begin; i < std::min(characters.size(), begin + 1 + random.below(4)); ++i) part += characters[i];
  return part;
}

TEST(AnswerTokens, AStreamIsTheTextWhateverTheTokens) {
  for_each_case([](const TokenizerPtr& t, const auto&, const Ids& before, const Ids& ids, RandomSequence&) {
    TextStream stream(t, {}, before);
    std::string all;
    for (const std::int32_t id : ids) {
      const std::string piece = stream.push(id);
      EXPECT_TRUE(is_utf8(piece));
      all += piece;
    }
    all += stream.finish();
    ASSERT_EQ(all, plain_text(*t, before, ids));
  });
}

TEST(AnswerTokens, TheirBytesAreTheTextAndTheirOffsetsWhereTheyStand) {
  for_each_case(
      [](const TokenizerPtr& t, const auto& bytes, const Ids& before, const Ids& ids, RandomSequence& random) {
        const std::string whole = plain_text(*t, before, ids);
        for (const bool stopping : {false, true}) {
          const std::vector<std::string> stops(stopping ? 1 : 0, part_of(whole, random));
          AnswerTokens answer(t, bytes, stops, before);
          std::string text, joined;
          std::size_t number = 0;
          const auto take = [&](const AnswerTokens::Part& part) {
            for (const AnswerToken& token : part.tokens) {
              ASSERT_EQ(token.number, number++);
              ASSERT_EQ(token.id, ids[token.number]);
              joined += token.bytes;
            }
            text += part.text;
            ASSERT_EQ(valid_utf8(joined), text) << "tokens come with their text";
          };
          std::vector<AnswerToken> told;
          const auto keep = [&](AnswerTokens::Part part) {
            take(part);
            for (AnswerToken& token : part.tokens) told.push_back(std::move(token));
          };
          for (const std::int32_t id : ids) keep(answer.push(id));
          keep(answer.finish());
          ASSERT_EQ(text, stopping ? whole.substr(0, find_stop(whole, stops)) : whole);
          if (!stopping) {
            ASSERT_EQ(told.size(), ids.size());
          }
          // A token's position is before the character of its first byte.
          std::string in_front;
          for (const AnswerToken& token : told) {
            std::size_t characters = 0;
            for (std::size_t end = 0; end < joined.size() && end + bytes_of_character(joined, end) <= in_front.size();
                 ++characters)
              end += bytes_of_character(joined, end);
            ASSERT_EQ(token.offset, characters) << "token " << token.number;
            in_front += token.bytes;
          }
        }
      });
}

// A text is tokenised, and its tokens' bytes are the text again.
TEST(AnswerTokens, OfAPromptAreItsText) {
  for (const char* name : {"bytelevel_gpt2", "bytelevel_llama3", "bpe_llama2", "bpe_metaspace"}) {
    SCOPED_TRACE(name);
    const TokenizerPtr t = load_tokenizer(test::test_dir() + "/golden/hf/tokenizers/" + name);
    const std::vector<std::string> bytes = token_bytes(*t);
    for (const std::string text : {"the dog", "the the \u00e9t\u00e9 \U0001f600.", "a  b"}) {
      Ids ids = t->frame(Side::target).prefix;
      for (const std::int32_t id : t->encode(text, Side::target)) ids.push_back(id);
      const std::vector<AnswerToken> tokens = tokens_of_text(t, bytes, ids, text);
      ASSERT_EQ(tokens.size(), ids.size());
      std::string joined;
      for (const AnswerToken& token : tokens) {
        EXPECT_LE(token.offset, characters_in(valid_utf8(joined)));
        joined += token.bytes;
      }
      EXPECT_EQ(joined, text);
    }
  }
}

// An invalid byte does not affect the characters around it, and counts once.
TEST(AnswerTokens, ABrokenByteTakesNoCharacterWithIt) {
  const TokenizerPtr t = load_tokenizer(test::test_dir() + "/golden/hf/tokenizers/bpe_llama2");
  Ids ids;
  const auto add = [&](const std::string& bytes) {
    for (const char c : bytes)
      ids.push_back(t->find(fmt::format("<0x{:02X}>", static_cast<unsigned char>(c)), Side::target).value());
  };
  add("\U0001f600");
  add("\x99");
  add("\U0001f601");
  add("\xe2\x82");  // of a character that is never completed
  EXPECT_EQ(t->decode(ids), "\U0001f600\ufffd\U0001f601\ufffd");
  TextStream stream(t, {});
  std::string all;
  for (const std::int32_t id : ids) all += stream.push(id);
  EXPECT_EQ(all, "\U0001f600\ufffd\U0001f601") << "what is certain comes before the end";
  EXPECT_EQ(all + stream.finish(), t->decode(ids));
}

// If a prompt ends within a character, the following text is the same streamed or not, and has no part of it.
TEST(AnswerTokens, ACharacterThatAPromptBeginsIsNotEndedByTheAnswer) {
  Gpt2Parts parts;
  for (int b = 0; b < 256; ++b) parts.table.add(gpt2_letters(std::string(1, static_cast<char>(b))));
  parts.table.add(parts.end_of_text);
  const TokenizerPtr t = make_gpt2_tokenizer(std::move(parts));
  const Ids before{'a', 0xe2}, ids{0x82, 0xac, 'b'};
  TextStream stream(t, {}, before);
  std::string all;
  for (const std::int32_t id : ids) all += stream.push(id);
  EXPECT_EQ(all + stream.finish(), "\ufffd\ufffdb");
  EXPECT_EQ(plain_text(*t, before, ids), "\ufffd\ufffdb");
  // A stop string that no text can show has no effect, wherever the search begins.
  const auto ends = stop_test(t, {"\ufffd"});
  Ids euros;
  for (int i = 0; i < 30; ++i) {
    for (const int byte : {0xe2, 0x82, 0xac}) {
      euros.push_back(byte);
      EXPECT_FALSE(ends(Ids{'a'}, euros)) << i << ", also within a character";
    }
  }
  // Invalid bytes are U+FFFD, as in the stream.
  euros.push_back(0xe2);
  EXPECT_FALSE(ends(Ids{'a'}, euros));
  euros.push_back('b');
  EXPECT_TRUE(ends(Ids{'a'}, euros));
  EXPECT_TRUE(stop_test(t, {"\ufffdb"})(Ids{'a'}, euros));
  TextStream stopping(t, {"\ufffd"}, Ids{'a'});
  for (const int byte : {0xe2, 0x82}) {
    EXPECT_EQ(stopping.push(byte), "");
    EXPECT_FALSE(stopping.stopped());
  }
  EXPECT_EQ(stopping.push(0xac), "\u20ac");
  (void)stopping.push(0xe2);
  EXPECT_EQ(stopping.push('b'), "");
  EXPECT_TRUE(stopping.stopped());
}

}  // namespace
}  // namespace tril::search
