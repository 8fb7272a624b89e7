#include "corpus/alignment.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "corpus/corpus.h"
#include "corpus/vocabulary.h"
#include "support/temporary.h"
#include "tokenizer/files/marian_tokenizer.h"

namespace tril {
namespace {

using Ids = std::vector<std::int32_t>;

TEST(AlignmentText, IsReadAndWritten) {
  EXPECT_EQ(to_text(parse_alignment(" 2-1 0-0  1-2 0-0\t", "f")), "0-0 1-2 2-1");
  EXPECT_TRUE(parse_alignment("", "f").empty());
  EXPECT_EQ(parse_alignment("10-3", "f"), (Alignment{{10, 3}}));
  for (const char* wrong : {"1", "1-", "-1", "a-b", "1-2-3", "1-2,2-3", "1--2", "99999999999-0", "1:2"}) {
    try {
      parse_alignment(wrong, "file: line 7");
      ADD_FAILURE() << wrong;
    } catch (const Error& e) {
      EXPECT_TRUE(contains(e.what(), "file: line 7"));
    }
  }
}

TEST(AlignmentText, OfWeights) {
  const std::vector<float> w{0.1f, 0.7f, 0.2f, 0.4f, 0.4f, 0.2f};
  EXPECT_EQ(to_text(hard_alignment(w, 2)), "0-1 1-0") << "of equals the first";
  EXPECT_EQ(to_text(alignment_above(w, 2, 0.15f)), "0-1 1-0 1-1 2-0 2-1");
  EXPECT_EQ(soft_alignment(w, 2), "0.1,0.7,0.2 0.4,0.4,0.2");
  EXPECT_TRUE(hard_alignment({}, 0).empty() && alignment_above({}, 0, 0).empty() && soft_alignment({}, 0).empty());
}

// A vocabulary without the letters "Q", "Z" and "5".
std::shared_ptr<const Tokenizer> tokenizer(const TemporaryDirectory& dir) {
  std::string text;
  for (int i = 0; i < 50; ++i) text += "ab abc cab bca . ba ( ac ) cc\n";
  const std::string corpus = dir.write("corpus", text);
  VocabularyOptions options;
  options.size = 16;
  MarianParts parts;
  parts.source_spm = parts.target_spm = train_sentencepiece(std::vector<TextSource>{{corpus, -1}}, options);
  parts.tags = {">>de<<"};
  return make_marian_tokenizer(parts);
}

TEST(AlignmentText, WordsOfTokens) {
  const TemporaryDirectory dir;
  const auto t = tokenizer(dir);
  for (const char* text : {"ab cab ba", "abcabc a b", ">>de<< ab bca", "QQ ab aZ c"}) {
    Ids ids = t->encode(text, Side::source);
    ids.push_back(t->special(Side::source).eos);
    const std::vector<std::int32_t> words = words_of(ids, *t, Side::source);
    ASSERT_EQ(words.size(), ids.size());
    EXPECT_EQ(words.back(), -1);
    EXPECT_EQ(words.front(), 0);
    const auto spaces = std::count(text, text + std::string(text).size(), ' ');
    EXPECT_EQ(words[words.size() - 2], spaces) << text;
    EXPECT_TRUE(std::is_sorted(words.begin(), words.end() - 1));
  }
}

TEST(AlignmentText, UnknownTokensBecomeSourceWords) {
  const TemporaryDirectory dir;
  const auto t = tokenizer(dir);
  const std::string source_text = "ab Qxyz cab";
  Ids source = t->encode(source_text, Side::source);
  source.push_back(t->special(Side::source).eos);
  const std::vector<std::int32_t> word = words_of(source, *t, Side::source);
  // Each token of `text` attends to the first token of source word looks[its word].
  const auto replaced = [&](const std::string& text, const std::vector<std::int32_t>& looks) {
    const Ids ids = t->encode(text, Side::target);
    const std::vector<std::int32_t> of = words_of(ids, *t, Side::target);
    std::vector<float> attention(ids.size() * source.size(), 0.0f);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      attention[i * source.size() + source.size() - 1] = 0.9f;  // the end of the sentence is not a word
      const auto at = std::find(word.begin(), word.end(), looks[static_cast<std::size_t>(of[i])]) - word.begin();
      attention[i * source.size() + static_cast<std::size_t>(at)] = 0.5f;
    }
    return decode_replacing_unknowns(ids, attention, source_text, source, *t);
  };
  EXPECT_EQ(replaced("ba ab", {0, 1}), "ba ab") << "nothing is unknown";
  EXPECT_EQ(replaced("ba 5 ab", {0, 1, 2}), "ba Qxyz ab");
  EXPECT_EQ(replaced("5 ab", {1, 0}), "Qxyz ab");
  EXPECT_EQ(replaced("ab 5", {0, 2}), "ab cab");
  EXPECT_EQ(replaced("ab 5 5 ba", {0, 1, 2, 0}), "ab Qxyz cab ba");
  EXPECT_EQ(replaced("ab 5 5 ba", {0, 1, 1, 0}), "ab Qxyz ba") << "one word";
  EXPECT_EQ(replaced("(5)", {1}), "(Qxyz)") << "no spaces where there were none";
}

TEST(AlignmentText, WordsBecomeTheirTokens) {
  // Source words 0, 0, 1, end; target words 0, 1, 1, end.
  const std::vector<std::int32_t> source{0, 0, 1, -1}, target{0, 1, 1, -1};
  EXPECT_EQ(to_text(tokens_of_words({{0, 1}, {1, 0}}, source, target, 0, "w")), "0-1 0-2 1-1 1-2 2-0");
  EXPECT_EQ(to_text(tokens_of_words({{0, 0}}, source, target, 1, "w")), "2-0") << "behind a tag";
  EXPECT_TRUE(contains(error_of([&] { tokens_of_words({{2, 0}}, source, target, 0, "here"); }), "here: aligns word 2"));
  EXPECT_TRUE(contains(error_of([&] { tokens_of_words({{1, 0}}, source, target, 1, "here"); }), "here"));
}

// From files to batches: tokenised, cropped, split into parts.
TEST(AlignmentText, ComesWithBatches) {
  const TemporaryDirectory dir;
  const auto t = tokenizer(dir);
  CorpusOptions o;
  o.source = {dir.write("src", "ab cab\nabcabc ba\nba\nab\n")};
  o.target = {dir.write("tgt", "cab ab\nba abcabc\nba\nab\n")};
  o.alignments = {dir.write("align", "0-1 1-0\n0-1 1-0\n\n0-0\n")};
  o.shuffle = false;
  for (const bool tagged : {false, true}) {
    if (tagged) o.tags = {">>de<<"};
    std::vector<Batch> batches = read_batches(o, t);
    ASSERT_EQ(batches.size(), 1u);
    for (const Batch& batch : split(batches[0], 3)) batches.push_back(batch);
    std::size_t seen = 0;
    for (const Batch& b : batches) {
      ASSERT_EQ(b.alignments.size(), static_cast<std::size_t>(b.sentences()));
      const std::vector<float> wanted = b.wanted_attention();
      std::size_t at = 0;
      for (std::int64_t i = 0; i < b.sentences(); ++i) {
        const auto source = words_of(b.source_row(i), *t, Side::source),
                   target = words_of(b.target_row(i), *t, Side::target);
        const std::int32_t words = *std::max_element(target.begin(), target.end()) + 1;
        for (std::size_t y = 0; y < target.size(); ++y) {
          double sum = 0;
          for (std::size_t x = 0; x < source.size(); ++x, ++at) {
            sum += static_cast<double>(wanted[at]);
            const bool right = b.lines[static_cast<std::size_t>(i)] != 2 && target[y] >= 0 && source[x] >= 0 &&
                               source[x] - tagged == words - 1 - target[y];
            EXPECT_EQ(wanted[at] > 0, right) << b.lines[static_cast<std::size_t>(i)] << " " << x << " " << y;
          }
          EXPECT_NEAR(sum, b.lines[static_cast<std::size_t>(i)] == 2 || target[y] < 0 ? 0 : 1, 1e-6);
        }
        ++seen;
      }
    }
    EXPECT_EQ(seen, 8u);
  }
  // Cropped to three ids including the end: tokens that are cut off have no alignment.
  o.tags.clear();
  o.max_length = 3;
  o.too_long = TooLong::crop;
  for (const Batch& b : read_batches(o, t))
    for (const Alignment& alignment : b.alignments)
      for (const AlignmentPoint& p : alignment) EXPECT_TRUE(p.source < 3 && p.target < 3) << to_text(alignment);
  o.alignments = {dir.write("short", "0-0\n")};
  EXPECT_TRUE(contains(error_of([&] { read_batches(o, t); }), "has 1 alignment,"));
}

}  // namespace
}  // namespace tril
