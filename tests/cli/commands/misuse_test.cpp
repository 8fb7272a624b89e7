// The real program with options that contradict each other or do nothing: it refuses them at once, and says what to try.
#include <gtest/gtest.h>

#include <filesystem>

#include "support/contains.h"
#include "support/run_program.h"
#include "support/tiny_marian.h"

namespace tril::misuse_test {
namespace {

class Misuse : public ::testing::Test {
 protected:
  /// @param words  after "tril": the exit code is 2, and the message has all of these parts
  template <class... Parts>
  void expect_refused(std::vector<std::string> words, const Parts&... parts) const {
    const Ran ran = run_tril(std::move(words));
    EXPECT_EQ(ran.code, 2) << ran.err;
    EXPECT_EQ(ran.out, "");
    EXPECT_TRUE(contains(ran.err, parts...)) << ran.err;
  }

  ScratchFolder folder;
  const std::string text = folder.write("text", "a dog\n");
};

TEST_F(Misuse, ALanguageIsNoPath) {
  expect_refused({"translate", "-m", folder.at("model"), folder.write("a.md", "a dog\n"), "--to", "../b"},
                 "--to: ", "a language, got \"../b\"", "for example de");
}

TEST_F(Misuse, AnOptionWithoutEffectIsRefused) {
  expect_refused({"eval", "-r", text, "-i", text, "--metrics", "bleu", "--chrf-word-order", "2"},
                 "--chrf-word-order: ", "no effect without chrF", "--metrics");
  expect_refused({"eval", "-r", text, "-i", text, "--metrics", "chrf", "--tokenize", "none"}, "--tokenize: ", "BLEU");
  const std::string run = folder.at("run");
  expect_refused({"train", "-m", run, "-t", text, text, "--average-checkpoints", "3"},
                 "--average-checkpoints: ", "--valid-sets");
  expect_refused({"train", "-m", run, "-t", text, text, "--lr-decay-updates", "9"},
                 "--lr-decay-updates: ", "no effect");
  EXPECT_FALSE(std::filesystem::exists(run));
}

TEST_F(Misuse, MessagesNameTheOptionAndTheRemedy) {
  const std::string run = folder.at("run");
  expect_refused({"train", "-m", run, "--arch", "llama", "-t", text, "--vocab-size", "60"}, "--vocab-size: 60",
                 "too small");
  expect_refused({"train", "-m", run, "-t", text, text, "--language-tags", "\n"}, "--language-tags: ", "\\x0A");
  expect_refused({"vocab", "--train-sets", text, "-o", folder.at("v"), "--symbols", "\n", "\n"}, "'\\x0A' is already");
  expect_refused({"detect", "--zzz"}, "--zzz is not an option", "--help lists");
}

TEST_F(Misuse, CoresThatAreMissingAreRefused) {
  const std::string model = write_tiny_marian(folder);
  const auto refused = [&](const std::string& pin, const auto&... parts) {
    expect_refused({"translate", "-m", model, "-i", text, "--pin", pin}, "--pin: ", parts...);
    expect_refused({"score", "-m", model, "--source", text, "--target", text, "--pin", pin}, "--pin: ", parts...);
    expect_refused({"bench", "translate", "-m", model, "-i", text, "--pin", pin}, "--pin: ", parts...);
    expect_refused({"serve", "-m", model, "--port", "0", "--pin", pin}, "--pin: ", parts...);
    expect_refused({"bench", "train", "--train-sets", text, text, "--vocab", folder.at("vocab"), "--pin", pin},
                   "--pin: ", parts...);
  };
  refused("4095", "core 4095", "allowed: ");
  refused("0-3-4", "got \"0-3-4\"", "for example 0-3,8");
  expect_refused({"translate", "-m", model, "-i", text, "--threads", "4000", "--pin", "compact"},
                 "--pin: ", "4000 threads", "--threads");
  expect_refused({"translate", "-m", model, "-i", text, "--numa", "both"}, "--numa: ", "interleave, local");
}

TEST_F(Misuse, CoresThatAreAllowedAreUsed) {
  const std::string model = write_tiny_marian(folder);
  const Ran free = run_tril({"translate", "-m", model, "-i", text});
  ASSERT_EQ(free.code, 0) << free.err;
  for (const char* pin : {"compact", "spread"}) {
    const Ran pinned = run_tril({"translate", "-m", model, "-i", text, "--pin", pin, "--numa", "local"});
    EXPECT_EQ(pinned.code, 0) << pinned.err;
    EXPECT_EQ(pinned.out, free.out);
  }
}

TEST_F(Misuse, AFlagHasNoEmptyValue) {
  expect_refused({"detect", "--json="}, "--json: ", "true or false", "got nothing");
  EXPECT_EQ(run_tril({"detect", "--json=false", "hello there"}).code, 0);
}

TEST_F(Misuse, AnOriginThatCannotMatchIsRefused) {
  for (const char* origin : {"example.org", "https://example.org/", "https://Example.org", "://a", "https://"})
    expect_refused({"serve", "-m", folder.write("m.gguf", ""), "--port", "0", "--cors-origins", origin},
                   "--cors-origins: ", origin, "scheme://host", "for example https://example.org");
}

}  // namespace
}  // namespace tril::misuse_test
