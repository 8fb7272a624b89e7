#include "document/markup/markdown.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "document/markup/html_reader.h"
#include "document/markup/markdown_inline.h"
#include "document/segments/words.h"

namespace tril::document {
namespace {

// A line, and what has been read of it.
struct MarkdownLine {
  Range at;                ///< without its line end
  std::size_t text;        ///< where its text begins, after the marks of quotations and items
  std::size_t indent = 0;  ///< columns of white space before the text, after those marks
  int quotes = 0;          ///< number of ">"
  bool item = false;       ///< an item begins
  std::size_t column = 0;  ///< of the text
};

bool is_rule(std::string_view text) {
  if (text.empty() || std::string_view("-*_").find(text[0]) == std::string_view::npos) return false;
  const auto signs = std::count(text.begin(), text.end(), text[0]);
  return signs >= 3 &&
         std::all_of(text.begin(), text.end(), [&](char c) { return c == text[0] || c == ' ' || c == '\t'; });
}

// The bytes of a run of three or more ` or ~; 0: none.
std::size_t fence_size(std::string_view text) {
  if (!text.starts_with("```") && !text.starts_with("~~~")) return 0;
  const std::size_t size = std::min(text.find_first_not_of(text[0]), text.size());
  return text[0] == '`' && text.find('`', size) != std::string_view::npos ? 0 : size;
}

// The bytes of "- ", "12. ", without the space; 0: none.
std::size_t item_size(std::string_view text) {
  if (text.empty()) return 0;
  std::size_t size = 0;
  if (std::string_view("-*+").find(text[0]) != std::string_view::npos) {
    size = 1;
  } else {
    while (size < text.size() && size < 9 && std::isdigit(static_cast<unsigned char>(text[size])) != 0) ++size;
    if (size == 0 || size == text.size() || (text[size] != '.' && text[size] != ')')) return 0;
    ++size;
  }
  return size == text.size() || is_blank(text[size]) ? size : 0;
}

bool is_table_rule(std::string_view text) {
  return text.find('-') != std::string_view::npos && text.find('|') != std::string_view::npos &&
         text.find_first_not_of("|-: \t") == std::string_view::npos;
}

// The elements that begin an HTML block wherever they stand (CommonMark 0.31, section 4.6, condition 6).
bool is_block_element(std::string_view name) {
  static constexpr std::array<std::string_view, 62> names{
      "address",  "article",    "aside",  "base",    "basefont", "blockquote", "body",     "caption",  "center",
      "col",      "colgroup",   "dd",     "details", "dialog",   "dir",        "div",      "dl",       "dt",
      "fieldset", "figcaption", "figure", "footer",  "form",     "frame",      "frameset", "h1",       "h2",
      "h3",       "h4",         "h5",     "h6",      "head",     "header",     "hr",       "html",     "iframe",
      "legend",   "li",         "link",   "main",    "menu",     "menuitem",   "nav",      "noframes", "ol",
      "optgroup", "option",     "p",      "param",   "search",   "section",    "summary",  "table",    "tbody",
      "td",       "tfoot",      "th",     "thead",   "title",    "tr",         "track",    "ul"};
  return std::find(names.begin(), names.end(), name) != names.end();
}

class MarkdownReader {
 public:
  explicit MarkdownReader(std::string markdown)
      : document_(std::make_unique<TextDocument>(std::move(markdown))), bytes_(document_->bytes()), tags_(bytes_) {
    for (std::size_t at = 0; at < bytes_.size();) {
      const std::size_t end = std::min(bytes_.find('\n', at), bytes_.size());
      lines_.push_back({at, end > at && bytes_[end - 1] == '\r' ? end - 1 : end});
      at = end + 1;
    }
    for (const Range& l : lines_)
      if (const auto label = definition(bytes_.substr(l.begin, l.size()))) labels_.insert(*label);
  }

  std::unique_ptr<Document> run() {
    skip_front_matter();
    for (; next_ < lines_.size(); ++next_) take(read_line(lines_[next_]));
    end_paragraph();
    return std::move(document_);
  }

 private:
  std::string_view text_of(const MarkdownLine& l) const { return bytes_.substr(l.text, l.at.end - l.text); }

  // The label of a link definition, "[label]: address".
  static std::optional<std::string> definition(std::string_view line) {
    const std::size_t begin = line.find_first_not_of(" >\t");
    if (begin == std::string_view::npos || line[begin] != '[' || line.substr(begin, 2) == "[^") return std::nullopt;
    const std::size_t end = line.find("]:", begin);
    if (end == std::string_view::npos || end == begin + 1) return std::nullopt;
    return link_label(line.substr(begin + 1, end - begin - 1));
  }

  void skip_front_matter() {
    if (lines_.empty()) return;
    const auto line = [&](std::size_t l) { return bytes_.substr(lines_[l].begin, lines_[l].size()); };
    const std::string_view first = line(0);
    if (first != "---" && first != "+++") return;
    for (std::size_t l = 1; l < lines_.size(); ++l)
      if (line(l) == first || (first == "---" && line(l) == "...")) return void(next_ = l + 1);
  }

  // Takes the marks of quotations and items off.
  MarkdownLine read_line(Range at) {
    MarkdownLine l{at, at.begin};
    std::size_t column = 0;
    const auto blanks = [&] {
      const std::size_t begin = column;
      for (; l.text < at.end && (bytes_[l.text] == ' ' || bytes_[l.text] == '\t'); ++l.text)
        column += bytes_[l.text] == '\t' ? 4 - column % 4 : 1;
      return column - begin;
    };
    l.indent = blanks();
    while (l.text < at.end && l.quotes + items_.size() < 100) {
      const std::string_view rest = bytes_.substr(l.text, at.end - l.text);
      if (rest[0] == '>' && relative(column, l.indent) < 4) {
        ++l.quotes, ++l.text, ++column;
        if (l.quotes > quotes_) items_.clear();
        l.indent = blanks();
        if (l.indent > 0) --l.indent;
        continue;
      }
      const std::size_t item = item_size(rest);
      // Within a paragraph only an item with text, and number 1 if it has one, begins a list.
      const bool interrupts = paragraph_.empty() || !items_.empty() ||
                              (item < rest.size() && (item == 1 || rest.substr(0, item - 1) == "1"));
      if (item == 0 || is_rule(rest) || !interrupts || code_indent(column, l.indent) || is_setext(l, rest)) break;
      while (!items_.empty() && column < items_.back()) items_.pop_back();
      l.item = true;
      l.text += item, column += item;
      const std::size_t begin = l.text, at_column = column;
      l.indent = blanks();
      if (l.indent > 4)
        l.text = begin + 1, column = at_column + 1, l.indent = 0;  // code in the item
      else
        l.indent = 0;
      items_.push_back(column);
    }
    l.column = column;
    return l;
  }

  bool is_setext(const MarkdownLine& l, std::string_view rest) const {
    return !paragraph_.empty() && !l.item && rest.find_first_not_of('-') == std::string_view::npos;
  }
  // Columns beyond the text of the innermost item.
  std::size_t relative(std::size_t column, std::size_t indent) const {
    std::size_t base = 0;
    for (const std::size_t i : items_)
      if (i <= column) base = i;
    return items_.empty() ? indent : column - std::min(column, base);
  }
  bool code_indent(std::size_t column, std::size_t indent) const {
    return paragraph_.empty() && relative(column, indent) >= 4;
  }

  void take(const MarkdownLine& l) {
    const std::string_view text = text_of(l);
    if (fence_ != 0) {
      if (fence_size(text) >= fence_ && text[0] == fence_sign_ && is_blank(text.substr(fence_size(text)))) fence_ = 0;
      return;
    }
    if (is_blank(text)) {
      end_paragraph();
      if (l.quotes < quotes_) quotes_ = l.quotes;
      return;
    }
    if (l.item || l.quotes > quotes_) end_paragraph();
    if (paragraph_.empty()) {
      if (!l.item && l.quotes == quotes_)
        while (!items_.empty() && l.column < items_.back()) items_.pop_back();
      quotes_ = l.quotes;
      if (!l.item && code_indent(l.column, l.indent)) return;
    }
    block(l, text);
  }

  // The line under a heading.
  bool is_underline(std::string_view text) const {
    return !paragraph_.empty() && (text.find_first_not_of("= \t") == std::string_view::npos ||
                                   text.find_first_not_of("- \t") == std::string_view::npos);
  }

  void block(const MarkdownLine& l, std::string_view text) {
    if (const std::size_t fence = fence_size(text)) {
      end_paragraph();
      fence_ = fence, fence_sign_ = text[0];
    } else if (is_underline(text) || is_rule(text)) {
      end_paragraph();
    } else if (text.find_first_not_of('#') <= 6 && text[0] == '#' && is_blank(text[text.find_first_not_of('#')])) {
      end_paragraph();
      heading(l, text);
    } else if (paragraph_.empty() && definition(text)) {
      return;
    } else if (is_html_block(text)) {
      html_block(l);
    } else if (paragraph_.empty() && is_table(text)) {
      table(l);
    } else {
      paragraph(l, text);
    }
  }

  void heading(const MarkdownLine& l, std::string_view text) {
    const std::size_t begin = text.find_first_not_of("# \t");
    if (begin == std::string_view::npos) return;
    std::size_t end = text.find_last_not_of(" \t") + 1;
    const std::size_t closing = text.substr(0, end).find_last_not_of('#') + 1;
    if (closing > begin && is_blank(text[closing - 1])) end = closing;
    inlines({{l.text + begin, l.text + end}});
  }

  void paragraph(const MarkdownLine& l, std::string_view text) {
    std::size_t begin = l.text;
    if (l.item && text.size() > 4 && text[0] == '[' && text[2] == ']' && text[3] == ' ') begin += 4;  // a task
    if (paragraph_.empty() && text.starts_with("[^"))
      if (const std::size_t note = text.find("]:"); note != std::string_view::npos) begin += note + 2;
    if (begin < l.at.end) paragraph_.push_back({begin, l.at.end});
  }

  void end_paragraph() {
    if (!paragraph_.empty()) inlines(paragraph_);
    paragraph_.clear();
  }

  void inlines(const std::vector<Range>& lines) { add_markdown_inlines(*document_, lines, {tags_, labels_}); }

  bool is_html_block(std::string_view text) const {
    if (!text.starts_with('<')) return false;
    const auto tag = tags_.at(static_cast<std::size_t>(text.data() - bytes_.data()));
    if (!tag) return false;
    if (tag->name.empty() || is_one_of(tag->name, {"script", "pre", "style", "textarea"}))
      return paragraph_.empty() || tag->name.empty() == false;
    if (is_block_element(tag->name)) return true;
    // Another tag alone on its line, not within a paragraph.
    return paragraph_.empty() && is_blank(text.substr(std::min(tag->size, text.size()))) &&
           std::all_of(tag->name.begin(), tag->name.end(),
                       [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-'; });
  }
  static bool is_one_of(std::string_view name, std::initializer_list<std::string_view> list) {
    return std::find(list.begin(), list.end(), name) != list.end();
  }

  // To the next blank line; elements such as <pre>, and comments, to their end.
  void html_block(const MarkdownLine& l) {
    end_paragraph();
    const auto tag = tags_.at(l.text);
    std::size_t whole = l.text;
    if (tag && tag->name.empty()) whole = l.text + tag->size;
    if (tag && !tag->closing && is_one_of(tag->name, {"script", "pre", "style", "textarea"}))
      whole = tags_.element(l.text, *tag).end;
    while (next_ + 1 < lines_.size() &&
           (lines_[next_ + 1].begin < whole ||
            (whole == l.text && !is_blank(bytes_.substr(lines_[next_ + 1].begin, lines_[next_ + 1].size())))))
      ++next_;
    add_html(*document_, tags_, {l.text, lines_[next_].end});
  }

  bool is_table(std::string_view text) const {
    if (text.find('|') == std::string_view::npos || next_ + 1 >= lines_.size()) return false;
    std::string_view rule = bytes_.substr(lines_[next_ + 1].begin, lines_[next_ + 1].size());
    rule.remove_prefix(std::min(rule.find_first_not_of(" >\t"), rule.size()));
    return is_table_rule(rule);
  }

  void table(const MarkdownLine& first) {
    row(first.text, first.at.end);
    for (++next_; next_ + 1 < lines_.size(); ++next_) {
      const Range line = lines_[next_ + 1];
      const std::string_view text = bytes_.substr(line.begin, line.size());
      if (text.find('|') == std::string_view::npos) break;
      row(line.begin + std::min(text.find_first_not_of(" >\t"), text.size()), line.end);
    }
  }
  void row(std::size_t begin, std::size_t end) {
    bool code = false;
    for (std::size_t at = begin; at <= end; ++at) {
      if (at < end && bytes_[at] == '`') code = !code;
      if (at < end && bytes_[at] == '\\')
        ++at;
      else if (at == end || (bytes_[at] == '|' && !code)) {
        if (begin < at) inlines({{begin, at}});
        begin = at + 1;
      }
    }
    if (begin < end) inlines({{begin, end}});
  }

  std::unique_ptr<TextDocument> document_;
  std::string_view bytes_;
  HtmlTags tags_;
  std::vector<Range> lines_;
  std::set<std::string> labels_;
  std::size_t next_ = 0;            ///< number of the current line
  std::vector<Range> paragraph_;    ///< the lines of the open paragraph
  std::vector<std::size_t> items_;  ///< columns where the texts of the open items begin
  int quotes_ = 0;                  ///< of the current block
  std::size_t fence_ = 0;           ///< the length of the fence that is open; 0: none
  char fence_sign_ = '`';
};

}  // namespace

std::unique_ptr<Document> read_markdown(std::string markdown) {
  return MarkdownReader(std::move(markdown)).run();
}

}  // namespace tril::document
