// The real program with one file for two purposes: it refuses before it writes, and names both options.
#include <gtest/gtest.h>

#include <filesystem>

#include "support/contains.h"
#include "support/paths.h"
#include "support/run_program.h"

namespace tril::file_conflicts_test {
namespace {

namespace fs = std::filesystem;

class FileConflicts : public ::testing::Test {
 protected:
  FileConflicts() {
    const fs::path golden = fs::path(test::test_dir()) / "golden/hf/marian";
    fs::create_directory(model);
    for (const char* file : {"config.json", "model.safetensors"}) fs::copy(golden / file, model);
  }

  /// @param words  after "tril": the exit code is 2, and the message has all of these parts
  template <class... Parts>
  void expect_refused(std::vector<std::string> words, const Parts&... parts) const {
    const Ran ran = run_tril(std::move(words), "a dog\n");
    EXPECT_EQ(ran.code, 2) << ran.err;
    EXPECT_EQ(ran.out, "");
    EXPECT_TRUE(contains(ran.err, parts...)) << ran.err;
  }

  ScratchFolder folder;
  const std::string text = folder.write("text", "a dog\n"), terms = folder.write("terms", "a\tb\n"),
                    model = folder.at("model");
};

TEST_F(FileConflicts, AnOutputIsNotAnInput) {
  expect_refused({"translate", "-m", model, "-i", text, "-o", text}, "--output: ", "text is also --input",
                 "another output");
  expect_refused({"translate", "-m", model, "-i", text, "--terminology", terms, "-b", "2", "-o", terms},
                 "--output: ", "terms is also --terminology");
  fs::create_symlink(text, folder.at("link"));
  expect_refused({"translate", "-m", model, "-i", text, "-o", folder.at("link")}, "--output: ", "is also --input");
  expect_refused({"shortlist", "-m", model, "-t", text, text, "-o", text}, "--out: ", "is also --train-sets");
  expect_refused({"align", "-t", text, text, "-o", text}, "--out: ", "is also --train-sets");
  EXPECT_EQ(file_text(text), "a dog\n");
  EXPECT_EQ(file_text(terms), "a\tb\n");
}

TEST_F(FileConflicts, AnOutputIsNoFileOfTheModel) {
  const std::string config = model + "/config.json", weights = model + "/model.safetensors", was = file_text(config);
  expect_refused({"translate", "-m", model, "-i", text, "-o", config},
                 "--output: ", "config.json is a file of --model");
  expect_refused({"translate", "-m", model, "-i", text, "-o", weights}, "model.safetensors is a file of --model");
  expect_refused({"attend", "-m", model, "-s", "a", "-o", config}, "--out: ", "is a file of --model");
  expect_refused({"attend", "-m", model, "-s", "a", "-o", folder.at("p.html"), "--svg", config}, "--svg: ");
  expect_refused({"shortlist", "-m", model, "-t", text, text, "-o", config}, "is a file of --model");
  expect_refused({"serve", "-m", "de=" + model, "--port", "0", "--access-log", config}, "--access-log: ", "--model");
  expect_refused({"vocab", "--train-sets", text, "--type", "byte_bpe", "--size", "300", "-o", model},
                 "already holds a model", "--out");
  EXPECT_EQ(file_text(config), was);
  EXPECT_FALSE(fs::exists(model + "/tokenizer.json"));
}

TEST_F(FileConflicts, StandardInputIsOneFile) {
  expect_refused({"translate", "-m", model, "--target-prefix", "-"}, "--target-prefix: ", "already --input",
                 "pass a file");
  expect_refused({"eval", "-r", "-"}, "--reference: ", "standard input is already --input");
  expect_refused({"score", "-m", model, "-s", "-", "-t", "-"}, "--target: ", "standard input is already --source");
  expect_refused({"perplexity", "-m", model, "-i", "-", "-"}, "--input: ", "only one of the files");
  expect_refused({"vocab", "--train-sets", "-", "-", "-o", folder.at("v")}, "--train-sets: ", "only one of the files");
}

TEST_F(FileConflicts, ADirectoryDoesNotGoToStandardOutput) {
  expect_refused({"vocab", "--train-sets", text, "--type", "byte_bpe", "--size", "300", "-o", "-"},
                 "--out: ", "directory", "standard output");
  expect_refused({"vocab", "--train-sets", text, "--extend", model, "--add", "1", "-o", "-"}, "--out: ", "directory");
  EXPECT_FALSE(fs::exists("-"));
}

}  // namespace
}  // namespace tril::file_conflicts_test
