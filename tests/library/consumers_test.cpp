// tril as other projects use it: installed and found by CMake and pkg-config, loaded by Python, and added as a subproject.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <tril/tril.h>

#include <cstdlib>
#include <fstream>
#include <set>

#include "support/tiny_marian.h"

namespace tril {
namespace {

namespace fs = std::filesystem;

const std::string source = fs::path(test::test_dir()).parent_path().string();
const std::string input = "a dog runs in the snow\ntwo men play\n";

/// Whether other projects, which this machine's compiler builds, cannot use this library: a cross compiler has built it.
constexpr bool for_another_machine = TRIL_CROSS_COMPILED;
constexpr const char* why_skipped = "built for another kind of processor: projects of this machine cannot use it";

class Consumers : public ::testing::Test {
 protected:
  static const std::string& model() {
    static const ScratchFolder folder;
    static const std::string path = write_tiny_marian(folder);
    return path;
  }
  Ran build_and_run(const std::string& name, const std::vector<std::string>& more = {}) {
    fs::create_directory(folder_.at(name));
    std::vector<std::string> words{
        "/usr/bin/env",   "bash", source + "/tests/library/consumers/run.sh", name, source, TRIL_BUILD,
        folder_.at(name), model()};
    words.insert(words.end(), more.begin(), more.end());
    return run_words(words, {.input = input, .stdout_to = {}, .before = {}, .meanwhile = {}});
  }
  void expect_translates(const std::string& name, const std::vector<std::string>& more = {}) {
    if (for_another_machine) GTEST_SKIP() << why_skipped;
    const Ran expected = run_tril({"translate", "-m", model(), "-b", "4"}, input);
    ASSERT_EQ(expected.code, 0) << expected.err;
    const Ran ran = build_and_run(name, more);
    ASSERT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(ran.out, expected.out);
  }

 private:
  ScratchFolder folder_;
};

TEST_F(Consumers, FindTheSharedLibrary) {
  expect_translates("shared");
}

TEST_F(Consumers, FindTheStaticLibrary) {
  expect_translates("static");
}

TEST_F(Consumers, CompileCWithPkgConfig) {
  expect_translates("pkgconfig");
}

TEST_F(Consumers, LinkTheStaticLibraryWithPkgConfig) {
  expect_translates("pkgconfig-static");
}

TEST_F(Consumers, LoadTheLibraryFromPython) {
  if (std::system("python3 -c 'import ctypes' 2>/dev/null") != 0) GTEST_SKIP() << "no python3";
  expect_translates("ctypes");
}

TEST_F(Consumers, LookInsideFromPython) {
  if (std::system("python3 -c 'import ctypes' 2>/dev/null") != 0) GTEST_SKIP() << "no python3";
  if (for_another_machine) GTEST_SKIP() << why_skipped;
  const Ran ran = build_and_run("ctypes-trace");
  ASSERT_EQ(ran.code, 0) << ran.err;
  const v0::Trace expected =
      v0::Tracer(v0::Model::open(model()), {{"only", "decoder.*.self.weights"}}).trace("a dog runs");
  std::string lines;
  for (const v0::TracedValue& value : expected.values()) {
    double sum = 0;
    for (const float x : value.floats) sum += x;
    lines += fmt::format("{} [{}] {:.4f}\n", value.name, fmt::join(value.shape, ", "), sum);
  }
  EXPECT_NE(lines, "");
  EXPECT_EQ(ran.out, lines);
}

TEST_F(Consumers, AddTheSources) {
  if (for_another_machine) GTEST_SKIP() << why_skipped;
  const Ran ran = build_and_run("subproject");
  EXPECT_EQ(ran.code, 0) << ran.err;
}

TEST_F(Consumers, AddTheSourcesByCpm) {
  if (!std::getenv("TRIL_CPM")) GTEST_SKIP() << "set TRIL_CPM to the path of CPM.cmake";
  if (for_another_machine) GTEST_SKIP() << why_skipped;
  const Ran ran = build_and_run("cpm");
  EXPECT_EQ(ran.code, 0) << ran.err;
}

// Both compile tril again, from nothing.
TEST_F(Consumers, SoakOfABuildFromTheSources) {
  if (!std::getenv("TRIL_SOAK_BUILDS")) GTEST_SKIP() << "takes ten minutes; set TRIL_SOAK_BUILDS";
  expect_translates("subproject", {"full"});
}

TEST_F(Consumers, SoakOfABuildByCpm) {
  if (!std::getenv("TRIL_SOAK_BUILDS") || !std::getenv("TRIL_CPM")) {
    GTEST_SKIP() << "takes five minutes; set TRIL_SOAK_BUILDS, and TRIL_CPM to the path of CPM.cmake";
  }
  expect_translates("cpm", {"full"});
}

// What programs may be linked with. A symbol that goes away or changes its arguments breaks them: TRIL_ABI_VERSION grows.
TEST_F(Consumers, FindTheSymbolsThatTheyWereLinkedWith) {
  const Ran nm = run_words({"/usr/bin/env", "nm", "-D", "--defined-only", TRIL_SHARED_LIBRARY});
  ASSERT_EQ(nm.code, 0) << nm.err;
  std::set<std::string> exported;
  for (const std::string& line : lines_of(nm.out)) {
    const std::string name = line.substr(line.rfind(' ') + 1);
    if (line.find(" A ") == std::string::npos) exported.insert(name.substr(0, name.find('@')));
  }
  std::string text;
  for (const std::string& name : exported) text += name + "\n";
  EXPECT_EQ(text, file_text(source + "/tests/library/exported_symbols.txt"))
      << "if this is meant, write the list anew: docs/cpp.md says when that is allowed";
}

// The examples of the pages are those that are compiled here.
TEST_F(Consumers, ReadTheExamplesOfThePages) {
  for (const auto& [page, example] : {std::pair{"docs/cpp.md", "examples/cpp/translate.cpp"},
                                      {"docs/cpp.md", "examples/cpp/chat.cpp"},
                                      {"docs/cpp.md", "examples/cpp/trace.cpp"},
                                      {"docs/c.md", "examples/c/translate.c"},
                                      {"docs/c.md", "examples/ctypes/translate.py"},
                                      {"docs/c.md", "examples/ctypes/trace.py"},
                                      {"README.md", "examples/cpp/translate.cpp"}}) {
    const std::string text = file_text(source + "/" + example);
    EXPECT_NE(file_text(source + "/" + page).find(text.substr(text.find('\n') + 1)), std::string::npos)
        << page << " and " << example;
  }
}

std::int64_t resident_pages() {
  std::int64_t total = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return resident;
}

TEST_F(Consumers, SoakOfManyCallsKeepsMemory) {
  const char* asked = std::getenv("TRIL_SOAK_CALLS");
  const int calls = asked ? std::atoi(asked) : 400;
  const v0::Model m = v0::Model::open(model());
  v0::Translator kept(m, {{"threads", 1}});
  std::int64_t before = 0;
  for (int i = 0; i < calls; ++i) {
    if (i == calls / 4) before = resident_pages();
    kept.translate_n_best({"two men play", "a red ball"});
    v0::Scorer(m, {{"threads", 1}}).score({"a dog"}, {"the dog"});
    v0::Tracer(m).trace("a dog", "the dog");
    v0::Translator(m, {{"threads", 1}}).translate("a dog");
    m.tokenizer().encode("the old dog");
    EXPECT_THROW(kept.translate("\xff"), Error);
  }
  EXPECT_LT(resident_pages() - before, 1024) << "4 MB";
}

}  // namespace
}  // namespace tril
