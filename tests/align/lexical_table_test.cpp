#include "align/lexical_table.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/file.h"
#include "corpus/corpus.h"
#include "corpus/vocabulary.h"
#include "support/temporary.h"
#include "tokenizer/files/marian_tokenizer.h"

namespace tril {
namespace {

// One-letter words, a token each; a target word is the source word's capital.
struct Scene {
  Scene() {
    std::string text;
    for (int i = 0; i < 30; ++i) text += "a b c d A B C D\n";
    VocabularyOptions options;
    options.size = 19;
    MarianParts parts;
    parts.source_spm = parts.target_spm =
        train_sentencepiece(std::vector<TextSource>{{dir.write("corpus", text), -1}}, options);
    tokenizer = make_marian_tokenizer(parts);
    corpus.source = {dir.write("src", "a b\nb c\nc a\nd\na d\n")};
    corpus.target = {dir.write("tgt", "A B\nC B\nA C\nD\nD A\n")};
    corpus.shuffle = false;
  }
  std::string likeliest(const LexicalTable& table, const std::string& source) const {
    const auto& list =
        table.of_source.at(static_cast<std::size_t>(tokenizer->find("\u2581" + source, Side::source).value()));
    return list.empty() ? "" : tokenizer->piece(list[0].target, Side::target);
  }

  TemporaryDirectory dir;
  std::shared_ptr<const Tokenizer> tokenizer;
  CorpusOptions corpus;
};

// The example of [Brown et al. 1993]: words are distinguished by the other contexts in which they occur.
TEST(LexicalTable, ExpectationFindsWhatTranslatesWhat) {
  const Scene s;
  const std::vector<Batch> batches = read_batches(s.corpus, s.tokenizer);
  const LexicalTable table = lexical_table(batches, *s.tokenizer, {.iterations = 20});
  for (const auto& [source, target] : {std::pair{"a", "A"}, {"b", "B"}, {"c", "C"}, {"d", "D"}})
    EXPECT_EQ(s.likeliest(table, source), std::string("\u2581") + target);
  for (const auto& list : table.of_source) {
    float sum = 0;
    for (const auto& e : list) sum += e.probability;
    EXPECT_LE(sum, 1 + 1e-4f);
    EXPECT_TRUE(
        std::is_sorted(list.begin(), list.end(), [](auto& a, auto& b) { return a.probability > b.probability; }));
  }
  float shares = 0;
  for (const float share : table.share) shares += share;
  EXPECT_NEAR(shares, 1, 1e-5);
  const LexicalTable few = lexical_table(batches, *s.tokenizer, {.iterations = 1, .best = 1});
  for (const auto& list : few.of_source) EXPECT_LE(list.size(), 1u);
}

// One step from uniform weights, by hand: "d" occurs once alone and once beside "a". In the pair (d, D), D comes from d
// or NULL, one half each; in (a d, D A) each target comes from a, d or NULL, one third each: c(D|d) = 1/2 + 1/3, c(A|d)
// = 1/3, since t is uniform in each row; the rows of d, a and NULL have 2, 4 and 4 targets.
TEST(LexicalTable, OneIterationByHand) {
  const Scene s;
  const LexicalTable table =
      lexical_table(read_batches(s.corpus, s.tokenizer), *s.tokenizer, {.iterations = 1, .threshold = 0});
  const auto& of_d = table.of_source.at(static_cast<std::size_t>(s.tokenizer->find("\u2581d", Side::source).value()));
  ASSERT_EQ(of_d.size(), 2u);
  const double alone = 0.5 / (0.5 + 0.25), beside = 0.5 / (0.5 + 0.25 + 0.25);
  EXPECT_NEAR(of_d[0].probability, (alone + beside) / (alone + 2 * beside), 1e-6);
  EXPECT_NEAR(of_d[1].probability, beside / (alone + 2 * beside), 1e-6);
}

TEST(LexicalTable, CountsGivenAlignments) {
  Scene s;
  s.corpus.alignments = {s.dir.write("align", "0-1 1-0\n0-0\n\n0-0\n0-0\n")};
  const LexicalTable table = lexical_table(read_batches(s.corpus, s.tokenizer), *s.tokenizer, {});
  const auto& of_b = table.of_source.at(static_cast<std::size_t>(s.tokenizer->find("\u2581b", Side::source).value()));
  ASSERT_EQ(of_b.size(), 2u) << "A by 1-0 of the first pair, C by 0-0 of the second";
  EXPECT_NEAR(of_b[0].probability, 0.5, 1e-6);
  EXPECT_TRUE(s.likeliest(table, "c").empty()) << "its pair says nothing of it";
}

TEST(LexicalTable, IsWrittenAndRead) {
  const Scene s;
  const LexicalTable table = lexical_table(read_batches(s.corpus, s.tokenizer), *s.tokenizer, {});
  const std::string text = to_text(table, *s.tokenizer);
  std::int64_t unknown = -1;
  const LexicalTable again = read_lexical_table(s.dir.write("lex", text), *s.tokenizer, unknown);
  EXPECT_EQ(unknown, 0);
  EXPECT_EQ(to_text(again, *s.tokenizer), text);
  EXPECT_EQ(text.substr(0, text.find('\n')).find("</s> NULL "), 0u) << "the most frequent first";
  read_lexical_table(s.dir.write("other", "xx \u2581a 0.5\n\u2581A yy 0.5\n\u2581A \u2581a 0.5\n"), *s.tokenizer,
                     unknown);
  EXPECT_EQ(unknown, 2);
  for (const char* wrong : {"a b\n", "a b x\n", "a b -1\n", "one\n"}) {
    const std::string file = s.dir.write("wrong", wrong);
    EXPECT_TRUE(contains(error_of([&] { read_lexical_table(file, *s.tokenizer, unknown); }), "line 1")) << wrong;
  }
}

}  // namespace
}  // namespace tril
