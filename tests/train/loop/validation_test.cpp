// The texts for BLEU and chrF belong to the same pairs as the validation loss.
#include "train/loop/validation.h"

#include <gtest/gtest.h>

#include "support/training.h"
#include "train/loop/samples.h"

namespace tril::train {
namespace {

// A tokenizer with two language tags.
class TaggedLetters : public test::LetterTokenizer {
 public:
  using LetterTokenizer::encode;
  std::optional<std::int32_t> find(std::string_view piece, Side side) const override {
    return is_tag(piece) ? tag_id : LetterTokenizer::find(piece, side);
  }
  void encode(std::string_view text, Side side, std::vector<std::int32_t>& ids) const override {
    const bool tagged = is_tag(text.substr(0, 6));
    if (tagged) ids.push_back(tag_id);
    LetterTokenizer::encode(text.substr(tagged ? 6 : 0), side, ids);
  }

 private:
  static constexpr std::int32_t tag_id = 2;
  static bool is_tag(std::string_view text) { return text == ">>de<<" || text == ">>fr<<"; }
};

TrainOptions measured_by_bleu(const TemporaryDirectory& dir) {
  TrainOptions o = test::small_options(dir);
  o.validation.valid_metrics = {Metric::bleu};
  return o;
}

TEST(ValidationSet, SourcesHaveTheTagOfTheirSet) {
  const TemporaryDirectory dir;
  TrainOptions o = measured_by_bleu(dir);
  o.data.valid_sets = {dir.write("a.src", "ab\n\n \n"), dir.write("a.tgt", "ba\n\n\n"), dir.write("b.src", "cd\n"),
                       dir.write("b.tgt", "dc\n"),      dir.write("c.src", "ef\n"),     dir.write("c.tgt", "fe\n")};
  o.data.language_tags = {">>de<<", ">>fr<<", ""};
  const ValidationSet set = read_validation_set(o, std::make_shared<TaggedLetters>());
  EXPECT_EQ(set.sources, (std::vector<std::string>{">>de<< ab", "", " ", ">>fr<< cd", "ef"}));
  EXPECT_EQ(set.references, (std::vector<std::string>{"ba", "", "", "dc", "fe"}));
  o.validation.valid_samples = 3;
  std::vector<std::string> shown;
  for (const SampleText& sample : read_samples(o)) shown.push_back(sample.source);
  EXPECT_EQ(shown, (std::vector<std::string>{">>de<< ab", ">>fr<< cd", "ef"}));
}

// Figures are comparable only if it is known which pairs they cover.
TEST(ValidationSet, TellsWhatTheMeasuresAreWithout) {
  const TemporaryDirectory dir;
  TrainOptions o = measured_by_bleu(dir);
  const std::string whole(40, 'a'), cut(70, 'b');
  o.data.skip_invalid = true;
  o.data.valid_sets = {dir.write("v.src", whole + "\n\n" + cut + "\nc\xff\nd\n" + cut + "\n"),
                       dir.write("v.tgt", "ba\nc\nd\ne\n\nf\n")};
  const auto tokenizer = std::make_shared<test::LetterTokenizer>();
  ValidationSet set = read_validation_set(o, tokenizer);
  EXPECT_EQ(set.sources, (std::vector<std::string>{whole, "", cut, "d", cut})) << "BLEU counts every line";
  std::vector<std::string> told = remarks(set, o);
  ASSERT_EQ(told.size(), 3u);
  const std::string source = dir.path("v.src");
  EXPECT_TRUE(contains(told[0], "2 of 6 pairs have a side of more than the model's 64 positions, the first one is " +
                                    source + ": line 3") &&
              contains(told[0], "translation"))
      << told[0];
  EXPECT_TRUE(contains(told[1], "2 of 6 pairs have an empty side, the first one is " + source + ": line 2") &&
              contains(told[1], "BLEU and chrF include them"))
      << told[1];
  EXPECT_TRUE(contains(told[2], "1 of 6 pairs are not UTF-8") && contains(told[2], source + ": line 4")) << told[2];

  o.validation.valid_metrics = {};
  for (const std::string& remark : remarks(read_validation_set(o, tokenizer), o))
    EXPECT_FALSE(contains(remark, "BLEU") || contains(remark, "translations")) << remark;
  o.data.valid_sets = {dir.write("w.src", "ab\n"), dir.write("w.tgt", "ba\n")};
  EXPECT_TRUE(remarks(read_validation_set(o, tokenizer), o).empty());
}

TEST(ValidationSet, PairsThatAreNotUtf8AreLeftOutOnBothSides) {
  const TemporaryDirectory dir;
  TrainOptions o = measured_by_bleu(dir);
  o.data.skip_invalid = true;
  o.data.valid_sets = {dir.write("v.src", "ab\nc\xff\nde\nfg\n"), dir.write("v.tgt", "ba\nc\ned\n\xff\n")};
  const ValidationSet set = read_validation_set(o, std::make_shared<test::LetterTokenizer>());
  EXPECT_EQ(set.sources, (std::vector<std::string>{"ab", "de"}));
  EXPECT_EQ(set.references, (std::vector<std::string>{"ba", "ed"}));
}

}  // namespace
}  // namespace tril::train
