// A Markdown page, as far as tests of the documentation need it: headings, links, tables and code.
#pragma once

#include <algorithm>
#include <cctype>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace tril::test {

/// A fenced block.
struct MarkdownBlock {
  std::string language;            ///< the word after the fence: "cpp"; or ""
  std::string mark;                ///< NAME of a line "<!-- run: NAME -->" right above it, else ""
  bool works = false;              ///< below a line "<!-- works -->"
  std::vector<std::string> lines;  ///< joined after a final backslash
};

struct MarkdownHeading {
  int level = 1;
  std::string text, anchor;  ///< the anchor is the one that GitHub gives: "Threads, Ctrl-C" has threads-ctrl-c
};

struct MarkdownPage {
  std::vector<MarkdownHeading> headings;
  std::vector<MarkdownBlock> blocks;
  std::vector<std::string> prose;  ///< all lines outside of blocks
  std::vector<std::string> links;  ///< targets of links and pictures
  std::vector<std::string> spans;  ///< `code` in the prose
};

/// Code spans of a line.
inline std::vector<std::string> markdown_spans(const std::string& line) {
  std::vector<std::string> spans;
  for (std::size_t at = line.find('`'), end; at != std::string::npos; at = line.find('`', end + 1)) {
    end = line.find('`', at + 1);
    if (end == std::string::npos) break;
    spans.push_back(line.substr(at + 1, end - at - 1));
  }
  return spans;
}

/// The cells of a table's line, without the space around them; none if the line is not of a table. "\|" is not a border.
inline std::vector<std::string> markdown_cells(const std::string& line) {
  std::vector<std::string> cells;
  if (!line.starts_with("| ")) return cells;
  std::string cell;
  for (std::size_t i = 1; i < line.size(); ++i) {
    if (line[i] != '|' || line[i - 1] == '\\') {
      cell += line[i];
      continue;
    }
    const std::size_t begin = cell.find_first_not_of(' '), end = cell.find_last_not_of(' ');
    cells.push_back(begin == std::string::npos ? "" : cell.substr(begin, end - begin + 1));
    cell.clear();
  }
  return cells;
}

inline std::string markdown_anchor(const std::string& heading) {
  std::string anchor;
  for (const char c : std::regex_replace(heading, std::regex(R"(\]\([^)]*\))"), "")) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) || c == '-' || c == '_' || byte >= 0x80)
      anchor += static_cast<char>(byte < 0x80 ? std::tolower(byte) : byte);
    else if (c == ' ')
      anchor += '-';
  }
  return anchor;
}

inline MarkdownPage read_markdown(const std::string& text) {
  static const std::regex heading(R"((#+) (.*))"), link(R"(\]\(([^) ]+)\))"), run(R"(<!-- run: (\S+) -->)");
  MarkdownPage page;
  std::istringstream lines(text);
  bool fenced = false, goes_on = false;
  std::string mark;
  bool works = false;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
    if (line.compare(indent, 3, "```") == 0) {
      if (!fenced) page.blocks.push_back({line.substr(indent + 3), mark, works, {}});
      fenced = !fenced;
      goes_on = false;
      mark.clear();
      works = false;
    } else if (fenced) {
      const bool more = line.ends_with('\\');
      if (more) line.pop_back();
      goes_on ? void(page.blocks.back().lines.back() += line) : page.blocks.back().lines.push_back(line);
      goes_on = more;
    } else {
      std::smatch m;
      mark = std::regex_match(line, m, run) ? m[1].str() : "";
      works = line == "<!-- works -->";
      if (std::regex_match(line, m, heading))
        page.headings.push_back({static_cast<int>(m[1].length()), m[2], markdown_anchor(m[2])});
      for (std::sregex_iterator i(line.begin(), line.end(), link), end; i != end; ++i) page.links.push_back((*i)[1]);
      for (const std::string& span : markdown_spans(line)) page.spans.push_back(span);
      page.prose.push_back(line);
    }
  }
  return page;
}

}  // namespace tril::test
