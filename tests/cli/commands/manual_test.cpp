// The manual pages say what --help says, and the files of the Debian packages agree with the program.
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <set>

#include "base/version.h"
#include "cli/app/app.h"
#include "cli/app/manual.h"
#include "cli/app/usage.h"
#include "support/paths.h"
#include "support/run_program.h"

namespace tril::manual_test {
namespace {

namespace fs = std::filesystem;

// A page without its requests and escapes: the text that a reader sees, one space between words.
std::string plain(const std::string& page) {
  std::string text = std::regex_replace("\n" + page, std::regex("\n\\.(B|I|SS) "), "\n");
  text = std::regex_replace(text, std::regex("\n\\.[^\n]*"), "");
  text = std::regex_replace(text, std::regex("\\\\&"), "");
  text = std::regex_replace(text, std::regex("\\\\\\(dq"), "\"");
  text = std::regex_replace(text, std::regex("\\\\e"), "\\");
  text = std::regex_replace(text, std::regex("\\\\-"), "-");
  return std::regex_replace(text, std::regex("\\s+"), " ");
}

std::string one_line(const std::string& text) {
  return std::regex_replace(text, std::regex("\\s+"), " ");
}

TEST(ManualPages, SayWhatHelpSays) {
  const cli::App app = cli::make_app();
  const std::vector<cli::ManualPage> pages = cli::manual_pages(app);
  ASSERT_EQ(pages.size(), app.commands().size() + 1);
  EXPECT_EQ(pages[0].name, "tril.1");
  for (std::size_t i = 0; i < app.commands().size(); ++i) {
    const cli::Command& command = app.commands()[i];
    SCOPED_TRACE(command.name);
    EXPECT_NE(plain(pages[0].text).find("tril " + command.name + " " + one_line(command.summary)), std::string::npos);
    const std::string page = plain(pages[i + 1].text);
    EXPECT_NE(page.find(one_line(cli::usage_of(command))), std::string::npos);
    EXPECT_NE(page.find(one_line(command.description)), std::string::npos);
    for (const Field& field : command.fields)
      EXPECT_NE(page.find(one_line(cli::flag_text(field) + " " + cli::described(field, command.fields))),
                std::string::npos)
          << field.name();
    for (const cli::Example& example : command.examples)
      EXPECT_NE(page.find(one_line(example.line)), std::string::npos) << example.line;
    EXPECT_NE(page.find("--help"), std::string::npos) << "the options of all commands";
  }
}

TEST(ManualPages, AreWrittenToADirectory) {
  const ScratchFolder folder;
  const std::string directory = folder.at("share/man1");
  const Ran ran = run_tril({"help", "--man", directory});
  ASSERT_EQ(ran.code, 0) << ran.err;
  std::set<std::string> expected, written;
  for (const cli::ManualPage& page : cli::manual_pages(cli::make_app())) {
    expected.insert(page.name);
    EXPECT_EQ(file_text(directory + "/" + page.name), page.text);
  }
  for (const auto& entry : fs::directory_iterator(directory)) written.insert(entry.path().filename().string());
  EXPECT_EQ(written, expected);
  EXPECT_EQ(run_tril({"help", "--man", directory, "eval"}).code, 2);
  EXPECT_EQ(run_tril({"help", "--man", folder.write("file", "") + "/x"}).code, 1);
}

TEST(ManualPages, FormatWithoutWarnings) {
  if (std::system("groff -v >/dev/null 2>&1") != 0) GTEST_SKIP() << "no groff";
  const ScratchFolder folder;
  for (const cli::ManualPage& page : cli::manual_pages(cli::make_app())) {
    const std::string path = folder.write(page.name, page.text);
    const Ran ran = run_words({"/usr/bin/env", "groff", "-man", "-Tutf8", "-Kutf8", "-ww", "-z", path});
    EXPECT_EQ(ran.code, 0) << page.name;
    EXPECT_EQ(ran.err, "") << page.name;
  }
}

TEST(DebianPackages, HaveTheProgramsVersion) {
  const std::string changelog = file_text(test::test_dir() + "/../debian/changelog");
  std::smatch match;
  ASSERT_TRUE(std::regex_search(changelog, match, std::regex("^tril \\(([^)]+)\\)")));
  EXPECT_EQ(match[1].str(), version) << "debian/changelog and include/tril/version.h name one version";
  EXPECT_NE(file_text(test::test_dir() + "/../CHANGELOG.md").find("## [" + std::string(version) + "]"),
            std::string::npos)
      << "CHANGELOG.md has a section of this version";
}

}  // namespace
}  // namespace tril::manual_test
