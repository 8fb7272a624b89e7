// Commands that write a model directory and fail halfway: nothing that looks like a model is left, and earlier contents
// are unchanged.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "support/run_program.h"
#include "support/tiny_marian.h"

namespace tril {
namespace {

namespace fs = std::filesystem;

class Directories : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder = new ScratchFolder;
    model = write_tiny_marian(*folder);
  }
  static void TearDownTestSuite() { delete folder; }

  static std::string at(const std::string& name) { return folder->at(name); }
  // Runs a command that must fail, with an empty output directory and with one that has a file.
  static void fails(const std::vector<std::string>& args, const std::string& option, const std::string& says,
                    std::uint64_t largest_file, bool may_be_there) {
    const std::string places = at("places");
    for (const bool there : {false, true}) {
      if (there && !may_be_there) continue;
      fs::remove_all(places);
      fs::create_directories(places);
      const std::string out = places + "/out";
      if (there) fs::create_directories(out), std::ofstream(out + "/notes") << "mine";
      std::vector<std::string> words = args;
      words.insert(words.end(), {option, out});
      const Ran ran = run_tril(words, Launch{.input = "",
                                             .stdout_to = "",
                                             .before =
                                                 [&] {
                                                   if (largest_file == 0) return;
                                                   const rlimit limit{largest_file, largest_file};
                                                   setrlimit(RLIMIT_FSIZE, &limit);
                                                 },
                                             .meanwhile = {}});
      EXPECT_EQ(ran.code, 1) << ran.err;
      EXPECT_NE(ran.err.find(says), std::string::npos) << ran.err;
      EXPECT_EQ(ran.err.find(".tmp-"), std::string::npos) << ran.err;
      std::set<std::string> left;
      for (const auto& entry : fs::recursive_directory_iterator(places))
        left.insert(fs::relative(entry.path(), places).string());
      EXPECT_EQ(left, there ? (std::set<std::string>{"out", "out/notes"}) : std::set<std::string>{}) << args[0];
    }
  }

  static inline ScratchFolder* folder = nullptr;
  static inline std::string model;
};

TEST_F(Directories, AFullDiskLeavesNone) {
  const std::uint64_t most = 3000;
  fails({"export", "-m", model}, "--to", "out/", most, true);
  fails({"quantize", "-m", model}, "-o", "out/", most, true);
  fails({"vocab", "--extend", model, "--language-tags", "de", "--train-sets", at("corpus"), at("corpus")}, "-o", "out/",
        most, false);
  // The tokenizer fits, the weights do not.
  fails({"export", "-m", model}, "--to", "out/model.safetensors: cannot write",
        fs::file_size(model + "/model.safetensors") - 1, true);
}

// Other files are kept; a file that would be replaced, or read as part of the model, is reported before anything is written.
TEST_F(Directories, FilesOfOtherModelsAreNotReplaced) {
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"export", "-m", model, "--to"}, {"quantize", "-m", model, "-o"}})
    for (const std::string name : {"vocab.json", "tokenizer.json", "generation_config.json", "model.safetensors"}) {
      fs::remove_all(at("taken"));
      fs::create_directory(at("taken"));
      folder->write("taken/" + name, "mine");
      std::vector<std::string> words = command;
      words.push_back(at("taken"));
      const Ran ran = run_tril(words);
      EXPECT_EQ(ran.code, 2) << ran.err;
      const std::string says = name == "model.safetensors" ? "already holds a model" : "holds " + name;
      EXPECT_NE(ran.err.find(at("taken") + ": " + says), std::string::npos) << ran.err;
      EXPECT_EQ(file_text(at("taken/" + name)), "mine");
      fs::rename(at("taken/" + name), at("taken/notes"));
      EXPECT_EQ(run_tril(words).code, 0);
      EXPECT_EQ(file_text(at("taken/notes")), "mine");
    }
}

TEST_F(Directories, AWeightThatIsNoNumberIsNamed) {
  const std::string bad = at("bad");
  fs::copy(model, bad, fs::copy_options::recursive);
  const std::string path = bad + "/model.safetensors";
  std::string bytes = file_text(path);
  for (std::size_t i = bytes.size() - bytes.size() / 3 / 4 * 4; i < bytes.size(); i += 4)
    bytes.replace(i, 4, std::string("\0\0\x80\x7f", 4));  // infinite
  std::ofstream(path, std::ios::binary) << bytes;
  fails({"quantize", "-m", bad}, "-o", "only finite numbers can be quantised", 0, true);
  fails({"quantize", "-m", bad, "--precision", "int4"}, "-o", "only finite numbers can be quantised", 0, true);
  std::ofstream(path, std::ios::binary | std::ios::trunc) << file_text(model + "/model.safetensors").substr(0, 20'000);
  fails({"quantize", "-m", bad}, "-o", "model.safetensors", 0, true);
  fails({"export", "-m", bad}, "--to", "model.safetensors", 0, true);
}

}  // namespace
}  // namespace tril
