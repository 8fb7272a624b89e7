// Commands of the pages run as they are written: blocks below a line <!-- works -->, in a folder with small models and texts of
// the names that the pages use.
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>

#include "support/markdown.h"
#include "support/paths.h"
#include "support/run_program.h"
#include "support/tiny_marian.h"

namespace tril {
namespace {

namespace files = std::filesystem;

/// What the commands of a page find.
class PageFolder {
 public:
  PageFolder() {
    files::create_directories(folder_.at("models"));
    files::create_directories(folder_.at(".bin"));
    files::create_symlink(test::tril_program(), folder_.at(".bin/tril"));
    write_models();
    write_texts();
  }

  /// As a shell runs them, which stops at the first that fails.
  Ran run(const std::vector<std::string>& commands) const {
    std::string script = "set -e -o pipefail\ncd '" + folder_.at("") +
                         "'\nexport PATH=$PWD/.bin:$PATH HF_HOME=$PWD/.hub TRIL_THREADS=1 OMP_NUM_THREADS=1\n";
    for (const std::string& line : commands) script += line + "\n";
    return run_words({"/usr/bin/env", "bash", "-c", script});
  }

 private:
  void write_models() const {
    const files::path translates = write_tiny_marian(folder_), golden = files::path(test::test_dir()) / "golden";
    for (const char* name : {"de", "models/de", "models/en-de", "en-de", "de1", "de2", "de3", "base"})
      files::copy(translates, folder_.at(name));
    for (const char* name : {"llama", "plays"})
      files::copy(golden / "lm_translation/TowerInstruct-7B-v0.2", folder_.at(name));
    for (const auto& entry : files::recursive_directory_iterator(folder_.at("")))
      if (!entry.is_symlink()) files::permissions(entry.path(), files::perms::owner_all);
    files::copy(golden / "gguf/model_q4_k.gguf", folder_.at("llama.Q4_K_M.gguf"));
  }

  void write_texts() const {
    const std::string english = "a dog runs in the snow\ntwo men play with a red ball\n",
                      german = "the old dog and the ball\nthe red dog\n", play = "ROMEO: the dog runs.\nJULIET: no.\n";
    for (const char* name : {"test.en", "text.en", "train.en", "new.en"}) folder_.write(name, english);
    for (const char* name : {"test.de", "train.de", "new.de"}) folder_.write(name, german);
    for (const char* name : {"valid.txt", "more.txt", "lines.txt", "long.txt", "scene.txt", "prompts.txt"})
      folder_.write(name, play);
    folder_.write("beginnings.de", "the\nthe\n");
    folder_.write("letter.txt", "A dog runs. Two men play.\n\nThe end.\n");
    folder_.write("notes.md", "# A dog\n\nTwo *men* play.\n");
    folder_.write("person.json", R"({"type": "object", "properties": {"age": {"enum": [7]}}, "required": ["age"]})");
    folder_.write("corrected.tmx",
                  R"(<tmx version="1.4"><header srclang="en"/><body><tu><tuv xml:lang="en"><seg>a dog</seg>
      </tuv><tuv xml:lang="de"><seg>ein Hund</seg></tuv></tu></body></tmx>)");
  }

  ScratchFolder folder_;
};

TEST(PageCommands, Work) {
  int seen = 0;
  std::vector<files::path> pages{files::path(test::test_dir()).parent_path() / "README.md"};
  for (const auto& entry : files::directory_iterator(files::path(test::test_dir()).parent_path() / "docs"))
    if (entry.path().extension() == ".md") pages.push_back(entry.path());
  for (const files::path& page : pages) {
    std::unique_ptr<PageFolder> folder;  // blocks of a page run in order, in one folder
    for (const test::MarkdownBlock& block : test::read_markdown(file_text(page.string())).blocks) {
      if (!block.works) continue;
      if (!folder) folder = std::make_unique<PageFolder>();
      const Ran ran = folder->run(block.lines);
      EXPECT_EQ(ran.code, 0) << page << "\n" << block.lines.front() << "\n" << ran.err;
      ++seen;
    }
  }
  EXPECT_GT(seen, 25);
  EXPECT_NE(PageFolder().run({"tril translate --no-such-option | cat"}).code, 0);
}

}  // namespace
}  // namespace tril
