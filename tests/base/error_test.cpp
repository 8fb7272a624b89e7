// Errors read well: where, what, hint; and the nearest name is the one that was meant.
#include "base/error.h"

#include <gtest/gtest.h>

namespace tril {
namespace {

TEST(Error, JoinsPlaceTextAndHint) {
  const Error all(ErrorKind::failure, "a.txt", "is empty", "fill it");
  EXPECT_STREQ(all.what(), "a.txt: is empty; fill it");
  EXPECT_STREQ(Error(ErrorKind::usage, "", "is empty").what(), "is empty");
  EXPECT_EQ(all.where(), "a.txt");
  EXPECT_EQ(all.hint(), "fill it");
}

// Names of files, and words from them, may hold line breaks, which would garble a log, and sequences that a terminal obeys.
TEST(Error, IsOneLineWhateverNamesItHolds) {
  const Error error(ErrorKind::failure, "a\nb\x1b[31m\xc3\xa4", "no \t in \r c\xff", "rename a\nb");
  EXPECT_STREQ(error.what(), "a\\x0Ab\\x1B[31m\xc3\xa4: no \\x09 in \\x0D c\\xFF; rename a\\x0Ab");
  EXPECT_EQ(error.where(), "a\\x0Ab\\x1B[31m\xc3\xa4");
  EXPECT_EQ(error.message(), "no \\x09 in \\x0D c\\xFF");
  EXPECT_EQ(error.hint(), "rename a\\x0Ab");
  EXPECT_STREQ(error.within("x\ny").what(),
               "x\\x0Ay: a\\x0Ab\\x1B[31m\xc3\xa4: no \\x09 in \\x0D c\\xFF; rename a\\x0Ab");
}

TEST(Error, WithinKeepsKindAndHint) {
  const Error inner(ErrorKind::usage, "w", "is [2], expected [3]", "look");
  const Error outer = inner.within("model.safetensors").within("models/de");
  EXPECT_STREQ(outer.what(), "models/de: model.safetensors: w: is [2], expected [3]; look");
  EXPECT_EQ(outer.kind(), ErrorKind::usage);
  EXPECT_EQ(outer.hint(), "look");
  EXPECT_STREQ(Error(ErrorKind::failure, "", "no").within("x").what(), "x: no");
}

TEST(Error, CheckThrowsUsageWithFormattedText) {
  EXPECT_NO_THROW(check(true, "op", "{}", 1));
  try {
    check(false, "op", "{} is not {}", 1, 2);
    FAIL() << "did not throw";
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), "op: 1 is not 2");
    EXPECT_EQ(e.kind(), ErrorKind::usage);
  }
  try {
    fail("disk", "is full");
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::failure);
  }
}

TEST(Nearest, FindsSlipsOfTheFinger) {
  const std::vector<std::string> options{"--max-tokens", "--max-length", "--seed", "--threads", "--beam"};
  EXPECT_EQ(nearest("--max-tokns", options), "--max-tokens");   // left out
  EXPECT_EQ(nearest("--seeed", options), "--seed");             // doubled
  EXPECT_EQ(nearest("--thraeds", options), "--threads");        // swapped
  EXPECT_EQ(nearest("--bean", options), "--beam");              // replaced
  EXPECT_EQ(nearest("--max-tokens", options), "--max-tokens");  // itself
  EXPECT_EQ(nearest("--no-such-thing-at-all", options), "");
  EXPECT_EQ(nearest("--seed", {}), "");
  EXPECT_EQ(nearest("", options), "");
}

// Of a long word, a request's say, only candidates of about its length are compared letter by letter: here it would take minutes.
TEST(Nearest, IsFastForALongWord) {
  EXPECT_EQ(nearest(std::string(1 << 22, '*'), std::vector<std::string>(1000, "decoder.0.self.weights")), "");
  EXPECT_EQ(nearest("--" + std::string(1 << 22, 'a'), std::vector<std::string>(1000, "--decoder-layers")), "");
}

TEST(Nearest, PrefersTheFewestEdits) {
  EXPECT_EQ(nearest("abcd", {"abxy", "abcx", "wxyz"}), "abcx");
  // A swap of neighbours is one edit, two replacements are two.
  EXPECT_EQ(nearest("abcdef", {"abcxyf", "abdcef"}), "abdcef");
}

// A query that leaves out the other words of a name is nearer to it than to a short name that differs in half of its letters.
TEST(Nearest, MayBeginWithTheWord) {
  EXPECT_EQ(nearest("beem", {"seed", "beam_size", "beam_groups"}), "beam_size");
  EXPECT_EQ(nearest("beam", {"seed", "beam_size"}), "beam_size");
  EXPECT_EQ(nearest("--beem", {"--seed", "--beam-size"}), "--beam-size");
  EXPECT_EQ(nearest("beem", {"beam", "beam_size"}), "beam");
  EXPECT_EQ(nearest("sead", {"seed", "beam_size"}), "seed");
  EXPECT_EQ(nearest("xxem", {"beam_size"}), "");
}

TEST(Nearest, DidYouMeanIsEmptyWhereNothingIsNear) {
  EXPECT_EQ(did_you_mean("d_modle", {"d_model", "vocab_size"}), "did you mean d_model?");
  EXPECT_EQ(did_you_mean("quite_another", {"d_model"}), "");
}

}  // namespace
}  // namespace tril
