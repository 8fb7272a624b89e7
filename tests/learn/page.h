// A page of the course: the parts of it that come from elsewhere, and its commands.
#pragma once

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <regex>
#include <string>
#include <vector>

#include "learn/chapters.h"
#include "learn/exercises.h"
#include "support/file_text.h"
#include "support/markdown.h"
#include "support/paths.h"

namespace tril::learn::course {

namespace paths = std::filesystem;

inline paths::path project() {
  return paths::path(test::test_dir()).parent_path();
}

inline paths::path page_path(const Chapter& c, Language l) {
  return project() / "docs/learn" / (l == Language::chinese ? "zh" : ".") / std::string(c.file);
}

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

inline std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

/// The function or struct of `file` whose first line begins with `start` (after its indentation), with the comment right above
/// it, up to the closing brace in the same column. One that ends in ";" is a single line.
inline std::vector<std::string> excerpt(const std::string& file, const std::string& start) {
  const std::vector<std::string> lines = lines_of(file_text((project() / file).string()));
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (const std::size_t indent = lines[i].find_first_not_of(' ');
        indent != std::string::npos && lines[i].compare(indent, start.size(), start) == 0)
      found.push_back(i);
  if (found.size() != 1)
    return {"(" + file + " has " + std::to_string(found.size()) + " lines that begin with " + start + ")"};
  std::size_t first = found[0], last = found[0];
  const std::string indent = lines[first].substr(0, lines[first].find_first_not_of(' '));
  while (!lines[found[0]].ends_with(';') && last + 1 < lines.size() && !lines[last].starts_with(indent + "}")) ++last;
  while (first > 0 && lines[first - 1].starts_with(indent + "//")) --first;
  return {lines.begin() + static_cast<std::ptrdiff_t>(first), lines.begin() + static_cast<std::ptrdiff_t>(last) + 1};
}

/// "</s>" in a page would be taken for HTML and vanish.
inline std::string with_escapes(std::string_view text) {
  return std::regex_replace(std::string(text), std::regex("<"), "\\<");
}

/// The exercises as a page states them.
inline std::vector<std::string> stated_exercises(int chapter, Language l) {
  std::vector<std::string> lines;
  for (const int number : {1, 2}) {
    const Exercise e = exercise(chapter, number);
    lines.insert(lines.end(), {std::to_string(number) + ". " + with_escapes(e.task.in(l)),
                               "   `tril learn check " + std::to_string(chapter) + " " + std::to_string(number) + " " +
                                   (e.problem_of_file ? "FILE" : "...") + "`"});
  }
  return lines;
}

/// The page with its excerpts, exercises and lists of chapters as they should be:
///   <!-- code: FILE: START -->     and a fenced block
///   <!-- exercises: N -->          and lines up to <!-- end -->
///   <!-- chapters -->              likewise
inline std::string as_it_should_be(const std::string& page, Language l) {
  static const std::regex code("<!-- code: ([^:]+): (.+) -->"), exercises("<!-- exercises: (\\d+) -->");
  std::vector<std::string> out;
  const std::vector<std::string> lines = lines_of(page);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    out.push_back(lines[i]);
    std::smatch m;
    if (std::regex_match(lines[i], m, code)) {
      out.push_back("```cpp");
      for (const std::string& line : excerpt(m[1], m[2])) out.push_back(line);
      out.push_back("```");
      for (i += 2; i < lines.size() && lines[i] != "```";) ++i;
    } else if (std::regex_match(lines[i], m, exercises)) {
      for (const std::string& line : stated_exercises(std::stoi(m[1]), l)) out.push_back(line);
      while (i + 1 < lines.size() && lines[i + 1] != "<!-- end -->") ++i;
    } else if (lines[i] == "<!-- chapters -->") {
      for (const Chapter& c : chapters())
        out.push_back(std::to_string(c.number) + ". [" + std::string(c.title.in(l)) + "](" + std::string(c.file) +
                      (l == Language::chinese ? ")：" : "): ") + std::string(c.question.in(l)));
      while (i + 1 < lines.size() && lines[i + 1] != "<!-- end -->") ++i;
    }
  }
  return joined(out);
}

/// A block below a line <!-- course: TOLERANCE --> or <!-- course: TOLERANCE long -->: lines after "$ " are commands, the others
/// what they print.
struct Commands {
  double tolerance = 0;
  bool is_long = false;        ///< for `make course` alone
  std::size_t first_line = 0;  ///< of the block, in the page
  std::vector<std::string> commands, output;
};

inline std::vector<Commands> commands_of(const std::string& page) {
  static const std::regex mark("<!-- course: ([0-9.]+)( long)? -->");
  std::vector<Commands> all;
  const std::vector<std::string> lines = lines_of(page);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::smatch m;
    if (!std::regex_match(lines[i], m, mark)) continue;
    Commands c{std::stod(m[1]), m[2].matched, i + 2, {}, {}};
    for (i += 2; i < lines.size() && lines[i] != "```"; ++i)
      lines[i].starts_with("$ ") ? c.commands.push_back(lines[i].substr(2)) : c.output.push_back(lines[i]);
    all.push_back(c);
  }
  return all;
}

/// "" or the first difference: words must agree, numbers within the tolerance: a share of the number, or the same below 1.
inline std::string difference(const std::vector<std::string>& expected, const std::vector<std::string>& got,
                              double tolerance) {
  static const std::regex word(R"([-+]?\d+(\.\d+)?([eE][-+]?\d+)?|[^\s\d]+)");
  const std::string a = joined(expected), b = joined(got);
  std::sregex_iterator i(a.begin(), a.end(), word), j(b.begin(), b.end(), word), end;
  for (; i != end && j != end; ++i, ++j) {
    const std::string x = i->str(), y = j->str();
    if (x == y) continue;
    char *x_end = nullptr, *y_end = nullptr;
    const double p = std::strtod(x.c_str(), &x_end), q = std::strtod(y.c_str(), &y_end);
    const bool numbers = *x_end == 0 && *y_end == 0 && !x.empty() && !y.empty();
    if (!numbers || std::abs(p - q) > tolerance * std::max(1.0, std::abs(p))) return "expected " + x + ", got " + y;
  }
  if (i != end) return "expected " + i->str() + ", got nothing";
  return j != end ? "got " + j->str() + " more" : "";
}

}  // namespace tril::learn::course
