// Training on several corpora from the command line: a model of two languages obeys its tag, and a run with every
// per-epoch variation ends bit-identical however often it is killed.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <sstream>

#include "base/rng.h"
#include "support/contains.h"
#include "support/run_program.h"

namespace tril {
namespace {

// Two made-up languages for the same source words.
constexpr std::array<const char*, 8> words = {"one", "two", "three", "four", "five", "six", "seven", "eight"};
constexpr std::array<const char*, 8> of_aa = {"un", "deux", "trois", "quatre", "cinq", "si", "sept", "huit"};
constexpr std::array<const char*, 8> of_bb = {"ichi", "ni", "san", "yon", "go", "roku", "nana", "hachi"};

struct Texts {
  std::string source, aa, bb;
};

Texts make_texts(int lines, std::uint64_t seed) {
  RandomSequence random(seed, 4);
  Texts t;
  for (int i = 0; i < lines; ++i) {
    for (std::uint64_t n = 1 + random.below(3); n > 0; --n) {
      const std::size_t word = random.below(words.size());
      const std::string end = n == 1 ? "\n" : " ";
      t.source += words[word] + end;
      t.aa += of_aa[word] + end;
      t.bb += of_bb[word] + end;
    }
  }
  return t;
}

int lines_equal(const std::string& a, const std::string& b) {
  std::istringstream as(a), bs(b);
  int equal = 0;
  for (std::string x, y; std::getline(as, x) && std::getline(bs, y);) equal += x == y;
  return equal;
}

struct Data {
  ScratchFolder folder;
  std::vector<std::string> args{"train",
                                "--model",
                                folder.at("model"),
                                "--train-sets",
                                put("aa", 1, &Texts::source),
                                put("aa.t", 1, &Texts::aa),
                                put("bb", 2, &Texts::source),
                                put("bb.t", 2, &Texts::bb)};
  std::string put(const std::string& name, std::uint64_t seed, std::string Texts::*side) {
    return folder.write(name, make_texts(seed == 1 ? 1500 : 700, seed).*side);
  }
  std::vector<std::string> with(const std::vector<std::string>& more) const {
    std::vector<std::string> all = args;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
};

const std::vector<std::string> small_model = {"--vocab-size", "80", "--d-model",    "32",   "--num-heads",  "2",
                                              "--ffn-dim",    "64", "--enc-depth",  "1",    "--dec-depth",  "1",
                                              "--dropout",    "0",  "--threads",    "2",    "--max-tokens", "400",
                                              "--warmup",     "50", "--learn-rate", "0.005"};

TEST(Multilingual, ATagDecidesTheLanguage) {
  const Data data;
  std::vector<std::string> training = data.with(small_model);
  training.insert(training.end(), {"--language-tags", "aa", ">>bb<<", "--corpus-temperature", "5", "--after", "1000u"});
  const Ran trained = run_tril(training);
  ASSERT_EQ(trained.code, 0) << trained.err;
  const Texts test = make_texts(50, 3);
  const auto translate = [&](const std::string& input, const std::vector<std::string>& more) {
    std::vector<std::string> args{"translate", "--model", data.folder.at("model"), "-b", "1"};
    args.insert(args.end(), more.begin(), more.end());
    return run_tril(args, input);
  };
  const Ran aa = translate(test.source, {"--target-language", "aa"});
  const Ran bb = translate(test.source, {"--target-language", ">>bb<<"});
  EXPECT_GE(lines_equal(aa.out, test.aa), 45) << aa.err << aa.out;
  EXPECT_GE(lines_equal(bb.out, test.bb), 45) << bb.err << bb.out;
  // The tag may also be in the text.
  std::string tagged;
  std::istringstream lines(test.source);
  for (std::string line; std::getline(lines, line);) tagged += ">>bb<< " + line + "\n";
  EXPECT_EQ(translate(tagged, {}).out, bb.out);
  // It belongs to each part of a line.
  const auto of = [&](const std::string& line) { return translate(line + "\n", {}).out; };
  std::string parts = of(">>bb<< one.");
  parts.back() = ' ';
  EXPECT_EQ(translate(">>bb<< one. Two\n", {"--split", "sentences"}).out, parts + of(">>bb<< Two"));
  EXPECT_EQ(translate("one. Two\n", {"--split", "sentences", "--target-language", "bb"}).out, parts + of(">>bb<< Two"));
  // Either the option or the text must give it.
  const Ran silent = translate(">>aa<< one\n\ntwo\n", {});
  EXPECT_EQ(silent.code, 2);
  EXPECT_TRUE(contains(silent.err,
                       "line 3: the target language is not given; the model's languages: aa, bb; pass "
                       "--target-language aa, or - for texts without a tag, or begin each line with one: >>aa<<"))
      << silent.err;
  EXPECT_EQ(translate("two\n", {"--target-language", "-"}).code, 0);
  const Ran unknown = translate(test.source, {"--target-language", "cc"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_TRUE(contains(unknown.err, "the model's vocabulary has no >>cc<<; it has aa, bb")) << unknown.err;
  // A model is more certain of a translation into the given language.
  const std::string source = data.folder.write("s", test.source), target = data.folder.write("t", test.bb);
  const auto score = [&](const std::string& language) {
    const Ran ran = run_tril({"score", "--model", data.folder.at("model"), "--source", source, "--target", target,
                              "--target-language", language});
    EXPECT_EQ(ran.code, 0) << ran.err;
    double sum = 0;
    std::istringstream scores(ran.out);
    for (double one; scores >> one;) sum += one;
    return sum;
  };
  EXPECT_GT(score("bb"), score("aa") + 10);
  const Ran unsaid = run_tril({"score", "--model", data.folder.at("model"), "--source", source, "--target", target});
  EXPECT_EQ(unsaid.code, 2);
  EXPECT_TRUE(contains(unsaid.err, "s: line 1: the target language is not given")) << unsaid.err;
  const std::string page = data.folder.at("page");
  const Ran attended = run_tril({"attend", "--model", data.folder.at("model"), "--source", "one", "--out", page});
  EXPECT_EQ(attended.code, 2);
  EXPECT_TRUE(contains(attended.err, "--source: the target language is not given")) << attended.err;
}

TEST(Multilingual, ARunThatIsStoppedGoesOnBitForBit) {
  const Data data;
  std::string weights[2];
  for (int i = 0; i < 1500; ++i) weights[0] += i % 3 == 0 ? "0.5\n" : "1\n";
  for (int i = 0; i < 700; ++i) weights[1] += "2\n";
  std::vector<std::string> usual = small_model;
  usual.insert(usual.end(),
               {"--language-tags", "-", "bb", "--corpus-weights", "1", "2", "--bpe-dropout", "0.2", "--data-weighting",
                data.folder.write("w0", weights[0]), data.folder.write("w1", weights[1])});
  const auto run = [&](const std::string& model, const std::string& after) {
    std::vector<std::string> args = data.with(usual);
    args[2] = data.folder.at(model);
    args.insert(args.end(), {"--after", after});
    const Ran ran = run_tril(args);
    EXPECT_EQ(ran.code, 0) << ran.err;
  };
  run("whole", "60u");
  for (const char* after : {"1u", "17u", "33u", "60u"}) run("pieces", after);
  const std::string expected = file_text(data.folder.at("whole/model.safetensors"));
  EXPECT_FALSE(expected.empty());
  EXPECT_TRUE(file_text(data.folder.at("pieces/model.safetensors")) == expected);
}

TEST(Multilingual, MistakesInTheDataAreNamed) {
  const Data data;
  const auto error = [&](const std::vector<std::string>& more) {
    std::vector<std::string> args = data.with(more);
    if (std::find(more.begin(), more.end(), "--vocab-size") == more.end())
      args.insert(args.end(), {"--vocab-size", "80"});
    const Ran ran = run_tril(args);
    EXPECT_NE(ran.code, 0);
    EXPECT_FALSE(contains(ran.err, "terminate")) << ran.err;
    return ran.err;
  };
  const std::string few = data.folder.write("few", "1\n");
  std::string weights = "1\n1\n-3\n";
  for (int i = 3; i < 1500; ++i) weights += "1\n";
  const std::string bad = data.folder.write("bad", weights), good = data.folder.write("good", weights.substr(7, 1400));
  EXPECT_TRUE(contains(error({"--data-weighting", bad, good}), "bad: line 3: expected a weight of 0 or more"));
  EXPECT_TRUE(contains(error({"--data-weighting", few, good}), "few: has 1 weight, "));
  EXPECT_TRUE(contains(error({"--data-weighting", few}), "expected one for each of 2 corpora, got 1"));
  EXPECT_TRUE(contains(error({"--language-tags", "a b", "c"}), "expected a language name"));
  EXPECT_TRUE(contains(error({"--bpe-dropout", "0.1", "--vocab-type", "unigram", "--vocab-size", "45"}),
                       "the vocabulary was not learned by byte-pair encoding"));
  EXPECT_TRUE(contains(error({"--corpus-weights", "1", "0"}), "--corpus-weights"));
}

TEST(Multilingual, AModelGrowsByPiecesAndTags) {
  const Data data;
  std::vector<std::string> training = data.with(small_model);
  training.insert(training.end(), {"--after", "20u"});
  ASSERT_EQ(run_tril(training).code, 0);
  const std::string model = data.folder.at("model"), wider = data.folder.at("wider");
  const std::string text = data.folder.write("new", "kiwi tango kiwi\nkiwi tango\n");
  const std::vector<std::string> args{"vocab", "--extend",        model, "--train-sets", text, "--add",
                                      "6",     "--language-tags", "de",  "--out",        wider};
  const Ran grown = run_tril(args);
  ASSERT_EQ(grown.code, 0) << grown.err;
  EXPECT_TRUE(contains(grown.err, "7 new tokens of the source")) << grown.err;
  // The old behaviour is kept, and the new tag is a token.
  const std::string lines = make_texts(20, 3).source;
  const Ran before = run_tril({"translate", "--model", model, "-b", "1"}, lines);
  const Ran after = run_tril({"translate", "--model", wider, "-b", "1"}, lines);
  EXPECT_EQ(after.code, 0) << after.err;
  EXPECT_GE(lines_equal(before.out, after.out), 15) << before.out << after.out;  // new rows compete in the output
  EXPECT_EQ(run_tril({"translate", "--model", wider, "--target-language", "de"}, "kiwi\n").code, 0);
  const Ran again = run_tril(args);
  EXPECT_EQ(again.code, 2);
  EXPECT_TRUE(contains(again.err, "already exists")) << again.err;
  const Ran nothing = run_tril({"vocab", "--extend", model, "--train-sets", text, "--out", data.folder.at("x")});
  EXPECT_EQ(nothing.code, 2) << nothing.err;
}

}  // namespace
}  // namespace tril
