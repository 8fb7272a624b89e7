#include "document/markup/latex.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <vector>

#include "document/markup/latex_commands.h"
#include "document/segments/segment_builder.h"
#include "document/segments/words.h"
#include "unicode/characters.h"

namespace tril::document {
namespace {

constexpr std::size_t longest_fixed = 300;    // bytes; longer formulas and code end a segment
constexpr std::size_t longest_option = 1000;  // bytes of an argument in []

bool is_command_letter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '@';
}

std::string escape_latex(std::string_view text, const Slot& slot) {
  std::string s;
  // Behind "\item", "\\" and other commands, these would begin an argument.
  if (text.starts_with('[') || text.starts_with('*')) {
    s = "{" + std::string(text.substr(0, 1)) + "}";
    text.remove_prefix(1);
  }
  return s + escape_each(text, slot, [](std::string_view character, std::string_view) -> std::string {
           const std::string c(character);
           if (c.size() == 1 && std::string_view("&%$#_{}").find(c[0]) != std::string_view::npos) return "\\" + c;
           return c == "~"        ? "\\textasciitilde{}"
                  : c == "^"      ? "\\textasciicircum{}"
                  : c == "\\"     ? "\\textbackslash{}"
                  : c == "\u00a0" ? "~"
                  : c == "\u00ad" ? "\\-"
                  : c == "\u202f" ? "\\,"
                                  : c;
         });
}

// In an argument in brackets.
std::string escape_label(std::string_view text, const Slot& slot) {
  std::string s;
  for (const char c : escape_latex(text, slot)) s += c == ']' ? std::string("{]}") : std::string(1, c);
  return s;
}

class LatexReader {
 public:
  explicit LatexReader(TextDocument& document)
      : document_(document),
        bytes_(document.bytes()),
        builder_(document, {LineEnds::break_lines, Worth::letters, &escape_latex}),
        closing_(bytes_.size()) {
    constexpr std::string_view begin = "\\begin{document}";
    const std::size_t body = bytes_.find(begin);
    at_ = done_ = body == std::string_view::npos ? 0 : body + begin.size();
    if (body == std::string_view::npos && bytes_.find("\\documentclass") != std::string_view::npos)
      at_ = done_ = bytes_.size();  // only a preamble
    match_braces();
  }

  void run() {
    while (at_ < bytes_.size() && !ended_) {
      if (builder_.is_full()) end();
      step();
    }
    end();
  }

 private:
  // What a closing brace ends.
  enum class Group : std::uint8_t { pair, block, title };

  char byte(std::size_t at) const { return at < bytes_.size() ? bytes_[at] : '\0'; }
  void flush() {
    if (done_ < at_) builder_.plain({done_, at_});
    done_ = at_;
  }
  Range take(std::size_t end) {
    flush();
    const Range raw{at_, std::min(end, bytes_.size())};
    at_ = done_ = raw.end;
    return raw;
  }
  void end() {
    flush();
    if (label_end_ == 0 || at_ > label_end_) return builder_.end();
    auto taken = builder_.take();
    if (!taken) return;
    taken->slot.escape = &escape_label;
    document_.add(std::move(taken->slot), std::move(taken->segment));
  }
  // Goes past bytes that stay and end a segment.
  void skip(std::size_t to) {
    end();
    at_ = done_ = std::min(to, bytes_.size());
  }
  void character(std::size_t size, std::string_view text, bool spelled = false) {
    builder_.character(take(at_ + size), text, spelled);
  }
  void fixed(std::size_t to) {
    if (to - at_ > longest_fixed || bytes_.substr(at_, to - at_).find("\n\n") != std::string_view::npos)
      return skip(to);
    std::string text(bytes_.substr(at_, to - at_));
    for (const char end : {'\n', '\r', '\t'}) std::replace(text.begin(), text.end(), end, ' ');
    builder_.fixed(take(to), text, false);
  }

  void step() {
    const std::string_view rest = bytes_.substr(at_);
    switch (rest[0]) {
      case '\\':
        return command();
      case '%':
        return comment();
      case '$':
        return formula(rest.starts_with("$$") ? "$$" : "$");
      case '&':
        return skip(at_ + 1);
      case '~':
        return character(1, "\u00a0");
      case '{':
        return group();
      case '}':
        return close();
      case ']':
        return at_ == label_end_ ? skip(at_ + 1) : static_cast<void>(++at_);
      case '\n':
        return line_end();
      case '`':
        return rest.starts_with("``") ? character(2, "\u201c", true) : static_cast<void>(++at_);
      case '\'':
        return rest.starts_with("''") ? character(2, "\u201d", true) : static_cast<void>(++at_);
      case '-':
        if (rest.starts_with("---")) return character(3, "\u2014", true);
        return rest.starts_with("--") ? character(2, "\u2013", true) : static_cast<void>(++at_);
      default:
        ++at_;
    }
  }

  // An empty line ends a paragraph.
  void line_end() {
    const std::size_t next = std::min(bytes_.find_first_not_of(" \t\r", at_ + 1), bytes_.size());
    if (next == bytes_.size() || bytes_[next] == '\n') return skip(next);
    ++at_;
  }
  // A comment has its line end, so that no word comes into it.
  void comment() {
    const std::size_t line = bytes_.find('\n', at_);
    if (line == std::string_view::npos) return skip(bytes_.size());
    if (const std::size_t next = bytes_.find_first_not_of(" \t\r", line + 1);
        next == std::string_view::npos || bytes_[next] == '\n')
      return skip(line);
    builder_.point(take(line + 1));
  }
  void formula(std::string_view mark) {
    std::size_t to = at_ + mark.size();
    while (to < bytes_.size() && bytes_.substr(to, mark.size()) != mark) to += bytes_[to] == '\\' ? 2 : 1;
    if (to >= bytes_.size()) return skip(bytes_.size());
    mark.size() == 2 ? skip(to + 2) : fixed(to + 1);
  }
  void formula_until(std::string_view mark, bool display) {
    const std::size_t to = bytes_.find(mark, at_ + 2);
    if (to == std::string_view::npos) return skip(bytes_.size());
    display ? skip(to + 2) : fixed(to + 2);
  }

  // {\bf ...} keeps its command at its beginning.
  void group() {
    std::size_t to = at_ + 1;
    if (byte(to) == '\\' && is_command_letter(byte(to + 1))) {
      for (++to; is_command_letter(byte(to));) ++to;
      if (byte(to) != ' ') to = at_ + 1;
      while (to > at_ + 1 && byte(to) == ' ') ++to;
    }
    builder_.open(take(to), "{");
    groups_.push_back(Group::pair);
  }
  void close() {
    if (groups_.empty()) {  // not understood: the rest stays
      end();
      ended_ = true;
      return;
    }
    const Group group = groups_.back();
    groups_.pop_back();
    if (group == Group::pair) return builder_.close(take(at_ + 1), "{");
    skip(at_ + 1);
    if (group == Group::title) title();
  }

  // A title in braces at the current place.
  void title() {
    if (byte(at_) != '{' || past_bracket(at_) == std::string_view::npos) return;
    skip(at_ + 1);
    groups_.push_back(Group::title);
  }

  // Finds the closing brace of each opening one, in one pass.
  void match_braces() {
    std::vector<std::size_t> open;
    for (std::size_t at = at_; at < bytes_.size(); ++at) {
      if (bytes_[at] == '\\') {
        ++at;
        for (const std::string_view url : {"href{", "url{", "nolinkurl{"})  // in which '%' begins no comment
          if (bytes_.substr(at, url.size()) == url)
            if (const std::size_t end = bytes_.find_first_of("}\n", at); byte(end) == '}')
              closing_[at + url.size() - 1] = static_cast<std::uint32_t>(end), at = end;
      } else if (bytes_[at] == '%') {
        at = std::min(bytes_.find('\n', at), bytes_.size());
      } else if (bytes_[at] == '{') {
        open.push_back(at);
      } else if (bytes_[at] == '}' && !open.empty()) {
        closing_[open.back()] = static_cast<std::uint32_t>(at);
        open.pop_back();
      }
    }
  }
  // Behind the bracket that closes the one at `from`; npos: none does.
  std::size_t past_bracket(std::size_t from) const {
    if (bytes_[from] == '{') return closing_[from] > 0 ? closing_[from] + 1 : std::string_view::npos;
    for (std::size_t at = from + 1; at < std::min(bytes_.size(), from + longest_option); ++at) {
      if (bytes_[at] == ']') return at + 1;
      if (bytes_[at] == '}') break;
      if (bytes_[at] == '{' && closing_[at] > 0)
        at = closing_[at];
      else if (bytes_[at] == '\\')
        ++at;
    }
    return std::string_view::npos;
  }
  // Behind the arguments that begin at `from`. @param most  of those in braces; @param apart  blanks may precede a brace
  std::size_t past_arguments(std::size_t from, int most, bool apart = true) const {
    std::size_t at = from;
    for (;;) {
      const std::size_t next = bytes_.find_first_not_of(' ', at);
      const char c = next == std::string_view::npos ? '\0' : bytes_[next];
      if (c == '*' && at == from) {
        at = next + 1;
        continue;
      }
      if ((c != '[' && c != '{') || (c == '{' && most == 0) || ((c == '[' || !apart) && next != at)) return at;
      const std::size_t end = past_bracket(next);
      if (end == std::string_view::npos) return at;
      most -= c == '{' ? 1 : 0;
      at = end;
    }
  }

  void command() {
    const char c = byte(at_ + 1);
    if (!is_command_letter(c)) return sign(c);
    std::size_t name_end = at_ + 1;
    while (is_command_letter(byte(name_end))) ++name_end;
    const std::string_view name = bytes_.substr(at_ + 1, name_end - at_ - 1);
    if (name == "begin" || name == "end") return environment(name == "begin", name_end);
    if (name == "verb" || name == "lstinline") return verbatim(name_end);
    if (accent(name, name_end) || symbol(name, name_end)) return;
    if (name == "item" && has_label(name_end)) {
      skip(name_end + 1);
      label_end_ = past_bracket(name_end) - 1;
      return;
    }
    const LatexCommand known = latex_command(name);
    switch (known.role) {
      case LatexRole::pair:
      case LatexRole::block:
        return text_argument(known, name_end);
      case LatexRole::fixed:
        if (const std::size_t arguments = past_arguments(name_end, 1); bytes_[arguments - 1] == '}')
          return fixed(arguments);
        return unknown(name_end);
      case LatexRole::boundary:
        return skip(past_arguments(name_end, 0));
      case LatexRole::line:
        return skip(line_of_definition(past_arguments(name_end, 9)));
      case LatexRole::unknown:
        return unknown(name_end);
    }
  }
  // \item[label] with a text; a letter or a number such as "[a)]" stays.
  bool has_label(std::size_t from) const {
    const std::size_t end = byte(from) == '[' ? past_bracket(from) : std::string_view::npos;
    if (end == std::string_view::npos) return false;
    const std::string_view label = bytes_.substr(from, end - from);
    return std::count_if(label.begin(), label.end(), [](char c) {
             return std::isalpha(static_cast<unsigned char>(c)) != 0 || static_cast<unsigned char>(c) >= 0x80;
           }) > 1;
  }
  std::size_t line_of_definition(std::size_t from) const { return std::min(bytes_.find('\n', from), bytes_.size()); }

  // The blank behind a command without arguments belongs to it: no letter of a translation may follow the name. A group behind
  // a blank may be text, as in "\noindent {\bf Note}".
  void unknown(std::size_t name_end) {
    const std::size_t arguments = past_arguments(name_end, 9, false);
    if (byte(arguments) == '{') {  // without an end
      end();
      ended_ = true;
      return;
    }
    if (arguments > name_end && bytes_[arguments - 1] != '*') return builder_.point(take(arguments));
    if (is_blank(byte(arguments)) && byte(arguments) != '\n') return builder_.point(take(arguments + 1));
    skip(arguments);
  }

  void text_argument(const LatexCommand& known, std::size_t name_end) {
    // \hyperref{URL}{category}{name}{text} is the other form of \hyperref[label]{text}.
    if (bytes_.substr(at_, name_end - at_) == "\\hyperref" && byte(name_end) != '[') return unknown(name_end);
    std::size_t at = past_arguments(name_end, known.arguments);
    at = std::min(bytes_.find_first_not_of(' ', at), bytes_.size());
    if (byte(at) != '{' || past_bracket(at) == std::string_view::npos) return unknown(name_end);
    if (known.role == LatexRole::pair) {
      builder_.open(take(at + 1), "{");
      groups_.push_back(Group::pair);
    } else {
      skip(at + 1);
      groups_.push_back(Group::block);
    }
  }

  // A backslash and a character that is no letter.
  void sign(char c) {
    switch (c) {
      case '\\':
        return skip(past_arguments(at_ + 2, 0));
      case '(':
        return formula_until("\\)", false);
      case '[':
        return formula_until("\\]", true);
      case '&':
      case '%':
      case '$':
      case '#':
      case '_':
      case '{':
      case '}':
        return character(2, std::string_view(&c, 1));
      case ' ':
      case '\n':
        return character(2, " ");
      case ',':
        return character(2, "\u202f");
      case '-':
        return character(2, "\u00ad");
      default:
        if (accent(bytes_.substr(at_ + 1, 1), at_ + 2)) return;
        builder_.point(take(at_ + 1 + std::max<std::size_t>(c == '\0' ? 0 : character_at(bytes_, at_ + 1).length, 1)));
    }
  }
  bool accent(std::string_view name, std::size_t from) {
    const bool is_letter = is_command_letter(name[0]);
    std::size_t at = from;
    while (is_letter && byte(at) == ' ') ++at;
    const bool braces = byte(at) == '{' && byte(at + 2) == '}',
               dotless = bytes_.substr(std::min(at, bytes_.size()), 4) == "{\\i}";
    const auto letter =
        latex_accent(name, dotless ? "i" : bytes_.substr(std::min(braces ? at + 1 : at, bytes_.size()), 1));
    if (!letter || (is_letter && at == from && !braces && !dotless)) return false;
    builder_.character(take(at + (dotless ? 4 : braces ? 3 : 1)), *letter, false);
    return true;
  }
  bool symbol(std::string_view name, std::size_t name_end) {
    const auto known = latex_symbol(name);
    if (!known) return false;
    const bool braces = bytes_.substr(name_end, 2) == "{}";
    builder_.character(take(name_end + (braces ? 2 : byte(name_end) == ' ' ? 1 : 0)), *known, false);
    return true;
  }
  void verbatim(std::size_t name_end) {
    std::size_t at = byte(name_end) == '*' ? name_end + 1 : name_end;
    if (byte(at) == '[') at = std::min(past_bracket(at), bytes_.size());
    const char mark = byte(at) == '{' ? '}' : byte(at);
    const std::size_t close = bytes_.find_first_of(std::string{mark, '\n'}, at + 1);
    if (at >= bytes_.size() || close == std::string_view::npos || bytes_[close] != mark) return skip(name_end);
    fixed(close + 1);
  }

  void environment(bool begins, std::size_t name_end) {
    const std::size_t close = byte(name_end) == '{' ? bytes_.find('}', name_end) : std::string_view::npos;
    if (close == std::string_view::npos) return skip(bytes_.size());
    const std::string_view name = bytes_.substr(name_end + 1, close - name_end - 1);
    const std::string_view bare = name.ends_with('*') ? name.substr(0, name.size() - 1) : name;
    if (!begins) {
      skip(close + 1);
      ended_ = name == "document";
      return;
    }
    if (const auto text = latex_text(bare)) {
      const std::size_t overlay = byte(close + 1) == '<' ? bytes_.find_first_of(">\n", close + 1) : close;
      const bool has_overlay = text->has_title && overlay != close && byte(overlay) == '>';  // of beamer: <1->
      skip(past_arguments((has_overlay ? overlay : close) + 1, text->arguments));
      if (text->has_title) title();
      return;
    }
    const std::string ending = "\\end{" + std::string(name) + "}";
    const std::size_t last = bytes_.find(ending, close);
    skip(last == std::string_view::npos ? bytes_.size() : last + ending.size());
  }

  TextDocument& document_;
  std::string_view bytes_;
  SegmentBuilder builder_;
  std::size_t at_ = 0, done_ = 0;  ///< the current place, and where text begins that has not been added
  std::vector<Group> groups_;
  std::vector<std::uint32_t> closing_;  ///< of each opening brace: the place of the closing one; 0: there is none
  std::size_t label_end_ = 0;           ///< of the last \item[label]: the place of its closing bracket
  bool ended_ = false;
};

}  // namespace

std::unique_ptr<Document> read_latex(std::string bytes) {
  auto document = std::make_unique<TextDocument>(std::move(bytes));
  LatexReader(*document).run();
  return document;
}

}  // namespace tril::document
