// tril learn, as a user runs it: the chapters, the check of answers, the pictures.
#include <gtest/gtest.h>

#include "support/contains.h"
#include "support/run_program.h"

namespace tril {
namespace {

TEST(Learn, ListsChaptersAndExercises) {
  const Ran all = run_tril({"learn"});
  EXPECT_EQ(all.code, 0);
  EXPECT_TRUE(contains(all.out, " 1  From text to ids", "14  Since 2017"));
  const Ran one = run_tril({"learn", "9", "--language", "zh"});
  EXPECT_EQ(one.code, 0);
  EXPECT_TRUE(contains(one.out, "完整的解码器", "docs/learn/zh/09-whole-decoder.md", "tril learn check 9 2 FILE"));
}

TEST(Learn, ChecksAnswers) {
  const Ran right = run_tril({"learn", "check", "10", "1", "0.41"});
  EXPECT_EQ(right.code, 0) << right.err;
  EXPECT_EQ(right.out, "right\n");
  const Ran wrong = run_tril({"learn", "check", "10", "1", "0.67", "--language", "zh"});
  EXPECT_EQ(wrong.code, 1);
  EXPECT_TRUE(contains(wrong.out, "还不对", "这是概率"));
  const Ran negative = run_tril({"learn", "check", "11", "1", "-0.33", "0.24", "0.09"});
  EXPECT_EQ(negative.code, 0) << negative.err << negative.out;
  const Ran unread = run_tril({"learn", "check", "9", "1", "11,450,640"});
  EXPECT_EQ(unread.code, 2);
  EXPECT_TRUE(contains(unread.err, "11,450,640", "without commas"));
  EXPECT_EQ(run_tril({"learn", "check", "15", "1", "0"}).code, 2);
  EXPECT_EQ(run_tril({"learn", "check", "3", "3", "0"}).code, 2);
}

TEST(Learn, DrawsPictures) {
  const ScratchFolder folder;
  const Ran printed = run_tril({"learn", "draw", "3", "--language", "zh"});
  EXPECT_EQ(printed.code, 0) << printed.err;
  EXPECT_TRUE(printed.out.starts_with("<svg"));
  const Ran written = run_tril({"learn", "draw", "3", "--language", "zh", "-o", folder.at("head.svg")});
  EXPECT_EQ(written.code, 0) << written.err;
  EXPECT_EQ(file_text(folder.at("head.svg")), printed.out);
  const Ran none = run_tril({"learn", "draw", "12"});
  EXPECT_EQ(none.code, 2);
  EXPECT_TRUE(contains(none.err, "--curves FILE", "example_training_tricks"));
  const std::string curves = folder.write("curves.tsv", "warm-up\t10\t0.5\nwarm-up\t20\t0.25\n");
  const Ran drawn = run_tril({"learn", "draw", "12", "--curves", curves});
  EXPECT_EQ(drawn.code, 0) << drawn.err;
  EXPECT_TRUE(contains(drawn.out, "warm-up", "polyline"));
  EXPECT_EQ(run_tril({"learn", "draw", "3", "--curves", curves}).code, 2);
}

}  // namespace
}  // namespace tril
