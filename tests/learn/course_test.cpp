// The pages of the course: both languages say the same, code is that of the sources, pictures are those that the program draws,
// commands print what the pages say, and the list of terms is complete. TRIL_WRITE_COURSE=1 writes excerpts, exercises, pictures
// and outputs into the pages. TRIL_COURSE=1 (`make course`) also runs the long commands.
#include <gtest/gtest.h>

#include <cctype>
#include <cstdlib>
#include <optional>
#include <set>

#include "base/file.h"
#include "learn/page.h"
#include "learn/pictures.h"
#include "support/contains.h"
#include "support/run_program.h"

namespace tril::learn::course {
namespace {

constexpr std::array languages{Language::english, Language::chinese};

bool writes() {
  return std::getenv("TRIL_WRITE_COURSE") != nullptr;
}

void expect_file(const paths::path& path, const std::string& text) {
  if (writes()) write_file_atomic(path.string(), std::string_view(text));
  ASSERT_TRUE(paths::exists(path)) << path;
  EXPECT_EQ(file_text(path.string()), text) << path << ": TRIL_WRITE_COURSE=1 writes it anew";
}

TEST(Course, PagesHoldTheSourcesExercisesAndQuestions) {
  for (const Language l : languages) {
    for (const Chapter& c : chapters()) {
      const std::string text = file_text(page_path(c, l).string());
      expect_file(page_path(c, l), as_it_should_be(text, l));
      EXPECT_TRUE(text.starts_with(fmt::format("# {}. {}\n", c.number, c.title.in(l)))) << c.file;
      EXPECT_TRUE(
          contains(text, fmt::format("\n{}\n", c.question.in(l)), fmt::format("<!-- exercises: {} -->", c.number)))
          << c.file;
    }
    const paths::path index = project() / "docs/learn" / (l == Language::chinese ? "zh/index.md" : "index.md");
    expect_file(index, as_it_should_be(file_text(index.string()), l));
  }
}

TEST(Course, ExcerptsAreWholeFunctions) {
  const std::vector<std::string> softmax = excerpt("examples/one_page_decoder.cpp", "Matrix softmax(");
  EXPECT_TRUE(softmax.front().starts_with("// softmax(S)_j"));
  EXPECT_EQ(softmax.back(), "}");
  EXPECT_EQ(excerpt("examples/one_page_decoder.cpp", "struct Sizes {").back(), "};");
  EXPECT_TRUE(contains(excerpt("examples/one_page_decoder.cpp", "no such").front(), "has 0 lines"));
}

TEST(Course, ChaptersHaveTheSamePartsInBothLanguages) {
  const std::vector<std::string> english{"Question", "Idea", "Picture", "Formula",    "Shapes",
                                         "Why",      "Code", "Run",     "Experiment", "Exercises"},
      chinese{"问题", "思路", "图", "公式", "形状", "为什么", "代码", "运行", "实验", "习题"};
  for (const Chapter& c : chapters()) {
    SCOPED_TRACE(c.file);
    const std::string texts[] = {file_text(page_path(c, Language::english).string()),
                                 file_text(page_path(c, Language::chinese).string())};
    std::vector<std::string> marks[2];
    for (const std::size_t i : {0u, 1u}) {
      const test::MarkdownPage page = test::read_markdown(texts[i]);
      std::vector<std::string> headings;
      for (const test::MarkdownHeading& h : page.headings)
        if (h.level == 2) headings.push_back(h.text);
      EXPECT_EQ(headings, i == 0 ? english : chinese);
      for (const std::string& line : page.prose)
        if (line.starts_with("<!-- ")) marks[i].push_back(line);
    }
    EXPECT_EQ(marks[0], marks[1]);
    const test::MarkdownPage a = test::read_markdown(texts[0]), b = test::read_markdown(texts[1]);
    ASSERT_EQ(a.blocks.size(), b.blocks.size());
    for (std::size_t i = 0; i < a.blocks.size(); ++i) {
      EXPECT_EQ(a.blocks[i].language, b.blocks[i].language);
      EXPECT_EQ(a.blocks[i].lines, b.blocks[i].lines);
    }
    EXPECT_EQ(a.links.size(), b.links.size());
    EXPECT_FALSE(commands_of(texts[0]).empty());
    EXPECT_TRUE(contains(texts[0], "<!-- code: "));
  }
}

// A chapter leads to the same place of the page in both languages, to a point that a trace has.
TEST(Course, LinksToThePageNameAPointOfAPass) {
  const std::string points = file_text((project() / "docs/trace.md").string());
  int links = 0;
  for (const Chapter& c : chapters()) {
    SCOPED_TRACE(c.file);
    std::vector<std::string> places[2];
    for (const std::size_t i : {0u, 1u}) {
      const std::string begin = fmt::format("http://127.0.0.1:8080/inside{}#", i == 0 ? "" : "?lang=zh");
      const Language language = i == 0 ? Language::english : Language::chinese;
      for (const std::string& link : test::read_markdown(file_text(page_path(c, language).string())).links)
        if (link.starts_with(begin)) places[i].push_back(link.substr(begin.size()));
    }
    EXPECT_EQ(places[0], places[1]);
    for (const std::string& place : places[0]) {
      ++links;
      const std::size_t at = place.find("&point=");
      if (at == place.npos) {
        EXPECT_TRUE(place.starts_with("learn=")) << "what needs no model: " << place;
        continue;
      }
      const std::string named = place.substr(at + 7), point = named.substr(0, named.find('&')),
                        last = point.substr(point.rfind('.') + 1);
      EXPECT_TRUE(contains(points, "`" + point + "`") || contains(points, "." + last + "`")) << point;
    }
  }
  EXPECT_EQ(links, 19);
}

TEST(Course, PicturesAreDrawnByTheProgram) {
  const std::vector<Curve> curves = read_curves((project() / "docs/learn/pictures/12.tsv").string());
  EXPECT_EQ(curves.size(), 7u);
  for (const Chapter& c : chapters())
    for (const Language l : languages) {
      const std::string name = fmt::format("{:02}{}.svg", c.number, l == Language::chinese ? ".zh" : "");
      expect_file(project() / "docs/learn/pictures" / name,
                  picture(c.number, l, c.number == 12 ? curves : std::vector<Curve>{}));
      EXPECT_TRUE(contains(file_text(page_path(c, l).string()), "pictures/" + name + ")")) << name;
    }
}

/// Puts what the blocks have printed into the page of each language; nothing where a block was not run.
void write_outputs(const Chapter& c, const std::vector<std::optional<std::string>>& outputs) {
  for (const Language l : languages) {
    const std::string text = file_text(page_path(c, l).string());
    const std::vector<Commands> blocks = commands_of(text);
    std::vector<std::string> lines = lines_of(text);
    for (std::size_t i = blocks.size(); i-- > 0;) {
      if (!outputs[i]) continue;
      const auto at = lines.begin() + static_cast<std::ptrdiff_t>(blocks[i].first_line + blocks[i].commands.size());
      const std::vector<std::string> output = lines_of(*outputs[i]);
      lines.insert(lines.erase(at, at + std::ssize(blocks[i].output)), output.begin(), output.end());
    }
    write_file_atomic(page_path(c, l).string(), std::string_view(joined(lines)));
  }
}

// In a folder in which build/ is the build, as in the project's own.
void run_commands(const Chapter& c, bool long_ones) {
  const ScratchFolder folder;
  paths::create_directory_symlink(paths::path(test::tril_program()).parent_path(), folder.at("build"));
  paths::create_directory(folder.at(".bin"));
  paths::create_symlink(test::tril_program(), folder.at(".bin/tril"));
  std::vector<std::optional<std::string>> outputs;
  for (const Commands& block : commands_of(file_text(page_path(c, Language::english).string()))) {
    outputs.emplace_back();
    if (block.is_long && !long_ones) continue;
    std::string script =
        "set -e -o pipefail\ncd '" + folder.at("") + "'\nexport PATH=$PWD/.bin:$PATH OMP_NUM_THREADS=1\n";
    for (const std::string& line : block.commands) script += line + "\n";
    const Ran ran = run_words({"/usr/bin/env", "bash", "-c", script});
    EXPECT_EQ(ran.code, 0) << c.file << "\n" << script << ran.err;
    if (ran.code == 0) outputs.back() = ran.out;
    if (!writes()) {
      EXPECT_EQ(difference(block.output, lines_of(ran.out), block.tolerance), "") << c.file << "\n"
                                                                                  << script << ran.out;
    }
  }
  if (writes()) write_outputs(c, outputs);
}

class CourseCommands : public testing::TestWithParam<int> {};

TEST_P(CourseCommands, PrintWhatTheChapterSays) {
  run_commands(chapter(GetParam()), std::getenv("TRIL_COURSE") != nullptr);
}

INSTANTIATE_TEST_SUITE_P(Chapters, CourseCommands, testing::Range(1, static_cast<int>(chapters().size()) + 1));

TEST(CourseCommandsTest, NumbersAreComparedWithinTheTolerance) {
  EXPECT_EQ(difference({"loss 0.41, 100 lines"}, {"loss  0.43, 101 lines"}, 0.05), "");
  EXPECT_TRUE(contains(difference({"loss 0.41"}, {"loss 0.48"}, 0.05), "expected 0.41, got 0.48"));
  EXPECT_TRUE(contains(difference({"loss 0.41"}, {"cost 0.41"}, 0.05), "expected loss"));
  EXPECT_TRUE(contains(difference({"7 x 4 x 8"}, {"8 x 4 x 7"}, 0), "expected 7, got 8"));
  EXPECT_TRUE(contains(difference({"a b"}, {"a"}, 0), "got nothing"));
  EXPECT_TRUE(contains(difference({"a"}, {"a b"}, 0), "more"));
}

/// In small letters, with single spaces: a line may end in the middle of a term.
std::string plain(const std::string& words) {
  std::string text;
  for (const char c : words)
    if (!std::isspace(static_cast<unsigned char>(c)))
      text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    else if (!text.ends_with(' '))
      text += ' ';
  return text;
}

struct Term {
  std::string words[2];
  std::string chapter;
};

// A word in bold is a term; the list names each with its chapter, and nothing else.
TEST(Course, TermsAreAllListed) {
  std::vector<Term> terms;
  for (const std::string& line : test::read_markdown(file_text((project() / "docs/learn/terms.md").string())).prose)
    if (const std::vector<std::string> cells = test::markdown_cells(line);
        cells.size() == 3 && cells[2].starts_with("["))
      terms.push_back({{plain(cells[0]), plain(cells[1])}, cells[2].substr(1, cells[2].find(']') - 1)});
  EXPECT_GT(terms.size(), 60u);
  for (std::size_t i = 1; i < terms.size(); ++i)
    EXPECT_LT(terms[i - 1].words[0], terms[i].words[0]) << "the list is sorted";
  static const std::regex bold(R"(\*\*([^*]+)\*\*)");
  for (const Chapter& c : chapters())
    for (const Language l : languages) {
      std::set<std::string> listed, used;
      for (const Term& t : terms)
        if (t.chapter == std::to_string(c.number)) listed.insert(t.words[l == Language::english ? 0 : 1]);
      const std::string text = joined(test::read_markdown(file_text(page_path(c, l).string())).prose);
      for (std::sregex_iterator i(text.begin(), text.end(), bold), end; i != end; ++i) used.insert(plain((*i)[1]));
      EXPECT_EQ(listed, used) << c.file;
    }
}

}  // namespace
}  // namespace tril::learn::course
