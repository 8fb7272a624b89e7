// The pages that a newcomer reads: both READMEs say the same, the site lists every page, quoted messages are those of the
// program, tables for those who migrate name options that exist, and marked commands print what the page says.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <set>

#include "cli/app/app.h"
#include "support/contains.h"
#include "support/markdown.h"
#include "support/paths.h"
#include "support/run_program.h"

namespace tril {
namespace {

namespace paths = std::filesystem;

paths::path project() {
  return paths::path(test::test_dir()).parent_path();
}

std::string project_file(const std::string& name) {
  return file_text((project() / name).string());
}

TEST(Pages, ReadmeFitsItsLimit) {
  const std::string text = project_file("README.md");
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 150);
}

// Links between the two are the only ones that differ.
TEST(Pages, BothReadmesHaveTheSameStructureCodeAndLinks) {
  const test::MarkdownPage english = test::read_markdown(project_file("README.md")),
                           chinese = test::read_markdown(project_file("README.zh-CN.md"));
  const auto levels = [](const test::MarkdownPage& page) {
    std::vector<int> list;
    for (const test::MarkdownHeading& h : page.headings) list.push_back(h.level);
    return list;
  };
  EXPECT_EQ(levels(english), levels(chinese));

  ASSERT_EQ(english.blocks.size(), chinese.blocks.size());
  for (std::size_t i = 0; i < english.blocks.size(); ++i) {
    EXPECT_EQ(english.blocks[i].language, chinese.blocks[i].language);
    EXPECT_EQ(english.blocks[i].lines, chinese.blocks[i].lines);
  }

  const auto links = [](const test::MarkdownPage& page) {
    std::multiset<std::string> list(page.links.begin(), page.links.end());
    list.erase("README.md");
    list.erase("README.zh-CN.md");
    return list;
  };
  EXPECT_EQ(links(english), links(chinese));

  const auto rows = [](const test::MarkdownPage& page) {
    std::vector<std::size_t> list;
    for (const std::string& line : page.prose)
      if (const std::size_t cells = test::markdown_cells(line).size()) list.push_back(cells);
    return list;
  };
  EXPECT_EQ(rows(english), rows(chinese));
}

// Both pages name the tests in the last column of their tables, and each test exists.
TEST(Pages, TutorialErrorsInBothLanguagesNameTheSameTests) {
  const std::string tests = project_file("tests/lessons/tutorial_errors_test.cpp");
  const auto named = [](const std::string& page) {
    std::vector<std::string> names;
    for (const std::string& line : test::read_markdown(project_file(page)).prose)
      if (const std::vector<std::string> cells = test::markdown_cells(line);
          cells.size() == 4 && cells[3].starts_with("`"))
        names.push_back(cells[3]);
    return names;
  };
  const std::vector<std::string> english = named("docs/tutorial-errors.md");
  EXPECT_EQ(english.size(), 10u);
  EXPECT_EQ(english, named("docs/tutorial-errors.zh-CN.md"));
  for (const std::string& name : english)
    EXPECT_TRUE(contains(tests, "TEST(TutorialErrors, " + name.substr(1, name.size() - 2) + ")"));
}

// In mkdocs.yml, a page is the last word of a line of `nav`.
TEST(Pages, TheSiteListsEachPageOnce) {
  std::map<std::string, int> listed;
  std::istringstream lines(project_file("mkdocs.yml"));
  for (std::string line; std::getline(lines, line);)
    if (line.ends_with(".md")) ++listed[line.substr(line.rfind(' ') + 1)];
  for (const auto& entry : paths::directory_iterator(project() / "docs")) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".md")) {
      EXPECT_EQ(listed[name], 1) << name;
    }
  }
}

/// The text of src/ with adjacent string literals joined.
const std::vector<std::string>& sources() {
  static const std::vector<std::string> all = [] {
    static const std::regex seam("\"\\s*\n\\s*\"");
    std::vector<std::string> texts;
    for (const auto& entry : paths::recursive_directory_iterator(project() / "src"))
      if (const std::string end = entry.path().extension().string(); end == ".cpp" || end == ".h")
        texts.push_back(std::regex_replace(file_text(entry.path().string()), seam, ""));
    return texts;
  }();
  return all;
}

/// Whether a file of src/ has the parts of `message` between its "…", in this order.
bool is_in_the_sources(const std::string& message) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= message.size();) {
    const std::size_t end = std::min(message.find("…", at), message.size());
    if (end > at) parts.push_back(message.substr(at, end - at));
    at = end + std::string("…").size();
  }
  return std::any_of(sources().begin(), sources().end(), [&](const std::string& text) {
    std::size_t at = 0;
    return std::all_of(parts.begin(), parts.end(), [&](const std::string& part) {
      at = text.find(part, at);
      return at != std::string::npos;
    });
  });
}

TEST(Pages, TroubleshootingQuotesMessagesOfTheProgram) {
  int seen = 0;
  for (const std::string& line : test::read_markdown(project_file("docs/troubleshooting.md")).prose) {
    const std::vector<std::string> cells = test::markdown_cells(line);
    if (cells.empty()) continue;
    for (const std::string& message : test::markdown_spans(cells[0])) {
      EXPECT_TRUE(is_in_the_sources(message)) << message;
      ++seen;
    }
  }
  EXPECT_GT(seen, 20);
  EXPECT_FALSE(is_in_the_sources("no … says thus"));
}

// The last column of a table names tril's options. The header of that column names the commands that have them, as code.
TEST(Pages, TablesForThoseWhoMigrateNameOptionsThatExist) {
  const cli::App app = cli::make_app();
  std::vector<std::string> commands;
  int seen = 0;
  for (const std::string& line : test::read_markdown(project_file("docs/migrating.md")).prose) {
    const std::vector<std::string> cells = test::markdown_cells(line);
    if (!line.starts_with("|")) commands.clear();
    if (cells.empty()) continue;
    const std::vector<std::string> spans = test::markdown_spans(cells.back());
    if (commands.empty()) {
      for (const std::string& span : spans)
        if (span.starts_with("tril ")) commands.push_back(span.substr(5));
      ASSERT_FALSE(commands.empty()) << line;
      continue;
    }
    for (const std::string& span : spans) {
      if (!span.starts_with("--")) continue;
      const std::string name = span.substr(2, span.find_first_of(" =") - 2);
      for (const std::string& command : commands) {
        cli::GeneralOptions options;
        EXPECT_TRUE(app.at(command).fields.find(name) || cli::fields_of(options, app.at(command).traits()).find(name))
            << "tril " << command << " has no option " << span;
        ++seen;
      }
    }
  }
  EXPECT_GT(seen, 60);
}

// A block below a line <!-- run: NAME --> is run in an empty folder: lines after "$ " are commands, the others are what they
// print. Blocks of a page with the same name share a folder and run in order.
TEST(Pages, MarkedCommandsPrintWhatThePagesSay) {
  int seen = 0;
  for (const auto& entry : paths::directory_iterator(project() / "docs")) {
    if (entry.path().extension() != ".md") continue;
    std::map<std::string, ScratchFolder> folders;
    for (const test::MarkdownBlock& block : test::read_markdown(file_text(entry.path().string())).blocks) {
      if (block.mark.empty()) continue;
      const ScratchFolder& folder = folders[block.mark];
      std::string script = "set -e\ncd '" + folder.at("") + "'\nmkdir -p .bin\nln -sf '" + test::tril_program() +
                           "' .bin/tril\nPATH=$PWD/.bin:$PATH\n",
                  expected;
      for (const std::string& line : block.lines)
        (line.starts_with("$ ") ? script : expected) += (line.starts_with("$ ") ? line.substr(2) : line) + "\n";
      const Ran ran = run_words({"/usr/bin/env", "bash", "-c", script});
      EXPECT_EQ(ran.code, 0) << entry.path() << "\n" << script << ran.err;
      EXPECT_EQ(ran.out, expected) << entry.path() << "\n" << script;
      ++seen;
    }
  }
  EXPECT_GE(seen, 3);
}

}  // namespace
}  // namespace tril
