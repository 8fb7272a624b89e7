// The documents name only what exists: every `tril ...` command line has a known command and options, every `make ...`
// a target, every path and link a file.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <regex>

#include "cli/app/app.h"
#include "cli/options/general_options.h"
#include "support/markdown.h"
#include "support/paths.h"
#include "support/run_program.h"

namespace tril {
namespace {

namespace fs = std::filesystem;

fs::path root() {
  return fs::path(test::test_dir()).parent_path();
}

std::vector<fs::path> documents() {
  std::vector<fs::path> list{root() / "README.md", root() / "README.zh-CN.md", root() / "CONTRIBUTING.md"};
  for (const char* folder : {"docs", "docs/learn", "docs/learn/zh"})
    for (const auto& entry : fs::directory_iterator(root() / folder))
      if (entry.path().extension() == ".md") list.push_back(entry.path());
  return list;
}

/// The code in a document: lines of fenced blocks without a language (if some begin with "$ ", only these, since the others
/// are output), and `inline` code.
std::vector<std::string> code_of(const test::MarkdownPage& page) {
  std::vector<std::string> code = page.spans;
  for (const test::MarkdownBlock& block : page.blocks) {
    const bool prompts = std::any_of(block.lines.begin(), block.lines.end(),
                                     [](const std::string& line) { return line.starts_with("$ "); });
    for (const std::string& line : block.lines)
      if (block.language.empty() && (!prompts || line.starts_with("$ ")))
        code.push_back(prompts ? line.substr(2) : line);
  }
  return code;
}

test::MarkdownPage page_of(const fs::path& path) {
  return test::read_markdown(file_text(path.string()));
}

/// Commands of a shell line, as words: cut at | ; && ( and #; quotes keep a word together. In a call, such as
/// find_package(tril), the parenthesis is part of the word.
std::vector<std::vector<std::string>> commands_of(const std::string& line) {
  const auto is_call = [](const std::string& before) {
    return !before.empty() && std::isalnum(static_cast<unsigned char>(before.back()));
  };
  std::vector<std::vector<std::string>> commands(1);
  std::string word;
  char quote = 0;
  const auto end_word = [&] {
    if (!word.empty()) commands.back().push_back(word);
    word.clear();
  };
  for (char ch : line) {
    if (quote)
      ch == quote ? void(quote = 0) : word.push_back(ch);
    else if (ch == '"' || ch == '\'')
      quote = ch;
    else if (ch == '#' && word.empty())
      break;
    else if (ch == '|' || ch == ';' || ch == '&' || (ch == '(' && !is_call(word)) || ch == ')')
      end_word(), commands.emplace_back();
    else if (ch == ' ')
      end_word();
    else
      word.push_back(ch);
  }
  end_word();
  return commands;
}

/// "" or what is wrong with `words`, the arguments of tril.
std::string problem_of(const cli::App& app, std::vector<std::string> words) {
  const std::vector<std::string> names = app.names();
  const auto is_command = [&](const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  if (words.empty() || words[0].starts_with("--") || words[0] == "COMMAND" || words[0] == "...") return "";
  std::string name = words[0];
  if (words.size() > 1 && (!is_command(name) || is_command(name + " " + words[1]))) name += " " + words[1];
  if (!is_command(name)) return words[0] + " is not a command";
  const cli::Command& command = app.at(name);
  cli::GeneralOptions options;
  const Fields general = cli::fields_of(options, command.traits());
  for (const std::string& word : words) {
    const std::string option = word.substr(0, word.find('='));
    bool known = true;
    if (option.starts_with("--"))
      known = command.fields.find(option.substr(2)) || general.find(option.substr(2));
    else if (option.size() == 2 && option[0] == '-' && std::isalpha(static_cast<unsigned char>(option[1])))
      known = option == "-h" || option == "-q" ||
              std::any_of(command.fields.begin(), command.fields.end(),
                          [&](const Field& f) { return f.short_name() == option[1]; });
    if (!known) return name + " has no option " + word;
  }
  return "";
}

TEST(Documents, CommandsExist) {
  const cli::App app = cli::make_app();
  const std::string makefile = file_text((root() / "Makefile").string());
  int seen = 0;
  for (const fs::path& document : documents())
    for (const std::string& code : code_of(page_of(document)))
      for (std::vector<std::string> words : commands_of(code)) {
        if (words.size() < 2) continue;
        const std::string program = words[0];
        words.erase(words.begin());
        if (program == "tril" || program == "build/tril") {
          ++seen;
          EXPECT_EQ(problem_of(app, words), "") << document.filename() << ": " << code;
        } else if (program == "make") {
          EXPECT_NE(makefile.find("\n" + words[0] + ":"), std::string::npos) << document.filename() << ": " << code;
        }
      }
  EXPECT_GT(seen, 20);
}

TEST(Documents, PathsExist) {
  const std::regex path(R"((?:src|tests|examples|docs|bench|scripts|cmake|include)/[\w./{},-]*)");
  int seen = 0;
  for (const fs::path& document : documents())
    for (const std::string& code : code_of(page_of(document))) {
      if (!std::regex_match(code, path) || code.find("NAME") != std::string::npos) continue;
      std::vector<std::string> paths{code};
      if (const std::size_t both = code.find("{h,cpp}"); both != std::string::npos)
        paths = {code.substr(0, both) + "h", code.substr(0, both) + "cpp"};
      for (const std::string& p : paths) EXPECT_TRUE(fs::exists(root() / p)) << document.filename() << ": " << p;
      ++seen;
    }
  EXPECT_GT(seen, 20);
}

/// "" or what is wrong with a link of a page at `from`. An anchor must be that of one heading alone, and without "--", which
/// GitHub and MkDocs write differently.
std::string problem_of_link(const fs::path& from, const std::string& link) {
  if (link.find("://") != std::string::npos) return "";
  const std::size_t hash = link.find('#');
  const fs::path target = hash == 0 ? from : from.parent_path() / link.substr(0, hash);
  if (!fs::exists(target)) return "no such file";
  if (hash == std::string::npos) return "";
  const std::string anchor = link.substr(hash + 1);
  const std::vector<test::MarkdownHeading> headings = page_of(target).headings;
  const auto found = std::count_if(headings.begin(), headings.end(),
                                   [&](const test::MarkdownHeading& h) { return h.anchor == anchor; });
  if (found != 1) return std::to_string(found) + " headings have this anchor";
  return anchor.find("--") == std::string::npos ? "" : "the anchor depends on the site";
}

TEST(Documents, LinksAndAnchorsExist) {
  int seen = 0;
  for (const fs::path& document : documents())
    for (const std::string& link : page_of(document).links) {
      EXPECT_EQ(problem_of_link(document, link), "") << document.filename() << ": " << link;
      ++seen;
    }
  EXPECT_GT(seen, 200);
}

// scripts/draw_house.sh draws the page again, into a copy, from the list that this build was made of.
TEST(Documents, TheHouseIsDrawnAsItIsBuilt) {
  const ScratchFolder dir;
  const std::string page = (root() / "docs/architecture.md").string(),
                    copy = dir.write("architecture.md", file_text(page));
  const Ran ran = run_words({(root() / "scripts/draw_house.sh").string(), TRIL_ROOMS, copy});
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(file_text(copy), file_text(page)) << "run `make docs`";
  EXPECT_NE(file_text(page).find("| `model/spec/` |"), std::string::npos);
}

/// The texts of the source files that a text names, each with the header or source beside it.
std::string sources_named_in(const std::string& text) {
  static const std::regex path(R"(`((?:src|include|cmake|tests)/[\w./-]*\.\w+|CMakeLists\.txt)`)");
  std::string sources;
  for (std::sregex_iterator at(text.begin(), text.end(), path), end; at != end; ++at)
    for (const char* extension : {"", ".h", ".cpp"}) {
      fs::path file = root() / (*at)[1].str();
      if (*extension) file.replace_extension(extension);
      if (fs::exists(file)) sources += file_text(file.string());
    }
  return sources;
}

bool has_word(const std::string& text, const std::string& word) {
  const auto goes_on = [](unsigned char c) { return std::isalnum(c) || c == '_'; };
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
    if ((at == 0 || !goes_on(text[at - 1])) && !goes_on(text[at + word.size()])) return true;
  return false;
}

/// The names of functions and types in a text of which a part is no word of the sources that the text names.
std::vector<std::string> unknown_names(const std::string& text) {
  static const std::regex name("`([A-Za-z_]\\w*(?:::\\w+)*)`"), word("\\w+");
  const std::string sources = sources_named_in(text);
  if (sources.empty()) return {};
  std::vector<std::string> unknown;
  for (std::sregex_iterator at(text.begin(), text.end(), name), end; at != end; ++at) {
    const std::string whole = (*at)[1].str();
    for (std::sregex_iterator part(whole.begin(), whole.end(), word); part != end; ++part)
      if (!has_word(sources, part->str())) unknown.push_back(whole);
  }
  return unknown;
}

// A step of a walkthrough, or a line of a table, names functions and types of the files that it names.
TEST(Documents, TheWalkthroughsNameWhatIsInTheirFiles) {
  std::vector<std::string> items;
  bool begun = false;
  for (const std::string& line : lines_of(file_text((root() / "docs/architecture.md").string()))) {
    begun = begun || line.starts_with("## Four walkthroughs");
    if (!begun) continue;
    const bool begins = line.empty() || line.front() == '|' || std::isdigit(static_cast<unsigned char>(line.front()));
    const bool goes_on = !begins && !items.empty() && !items.back().empty();
    if (goes_on)
      items.back() += "\n" + line;
    else
      items.push_back(line);
  }
  EXPECT_GT(items.size(), 100u);
  for (const std::string& item : items) EXPECT_EQ(unknown_names(item), std::vector<std::string>()) << item;
  const std::string wrong = "`App::run` in `src/cli/app/app.cpp` calls `App::walk`";
  EXPECT_EQ(unknown_names(wrong), std::vector<std::string>{"App::walk"});
}

TEST(Documents, TheTestSeesMistakes) {
  const cli::App app = cli::make_app();
  EXPECT_EQ(problem_of(app, {"translte", "-m", "de"}), "translte is not a command");
  EXPECT_EQ(problem_of(app, {"translate", "--modle", "de"}), "translate has no option --modle");
  EXPECT_EQ(problem_of(app, {"translate", "-y"}), "translate has no option -y");
  EXPECT_EQ(problem_of(app, {"bench", "train", "--preset", "tiny"}), "");
  const std::vector<std::vector<std::string>> words{{"echo", "a | b"}, {"tril", "x"}};
  EXPECT_EQ(commands_of("echo \"a | b\" | tril x  # why"), words);
  EXPECT_EQ(commands_of("find_package(tril QUIET)")[0][0], "find_package(tril");
  EXPECT_EQ(commands_of("x=$(tril y)")[1][0], "tril");
  const std::vector<std::string> code{"tril c", "a b"};
  EXPECT_EQ(code_of(test::read_markdown("see `tril c`.\n```\na \\\nb\n```\n```cpp\nx;\n```\n")), code);
  EXPECT_EQ(code_of(test::read_markdown("```\n$ tril c\ntril: an error\n```\n")), std::vector<std::string>{"tril c"});
  EXPECT_EQ(problem_of_link(root() / "docs/gguf.md", "gg.md"), "no such file");
  EXPECT_NE(problem_of_link(root() / "docs/gguf.md", "#nothing"), "");
}

}  // namespace
}  // namespace tril
