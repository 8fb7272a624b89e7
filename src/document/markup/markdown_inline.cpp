#include "document/markup/markdown_inline.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include "document/segments/character_references.h"
#include "document/segments/words.h"
#include "unicode/characters.h"
#include "unicode/letter_case.h"

namespace tril::document {
namespace {

constexpr std::string_view special_characters = "\\`*_[]<>~|$";

bool is_ascii_punctuation(char c) {
  return std::ispunct(static_cast<unsigned char>(c)) != 0;
}

// A text that begins like a heading, an item or a quotation.
bool looks_like_block(std::string_view text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  if (digits > 0 && digits < 10 && text.size() > digits + 1)
    return (text[digits] == '.' || text[digits] == ')') && text[digits + 1] == ' ';
  return text.size() > 1 && std::string_view("#+->=").find(text[0]) != std::string_view::npos && text[1] == ' ';
}

std::string escape_markdown(std::string_view text, const Slot& slot) {
  std::string s;
  if (looks_like_block(text)) {
    const std::size_t sign = std::min(text.find_first_not_of("0123456789"), text.size());
    s = std::string(text.substr(0, sign)) + "\\";
    s += text[sign];
    text.remove_prefix(sign + 1);
  }
  return s + escape_each(text, slot, [](std::string_view character, std::string_view rest) -> std::string {
           const std::string c(character);
           if (special_characters.find(c[0]) != std::string_view::npos) return "\\" + c;
           return c[0] == '&' && character_reference(rest) ? "&amp;" : c;
         });
}

// A run of * _ or ~ that may begin or end emphasis.
struct Delimiter {
  Range at;  ///< what is left of it
  char sign;
  bool opens, closes;
  std::size_t whole;  ///< its length at first
};

// A tag, found before the text is added.
struct Found {
  enum Kind : std::uint8_t { open, close, point, fixed, character, bare, line_break, end } kind;
  Range raw;
  std::string text = {};     ///< fixed words or a character; a tag's name
  std::string written = {};  ///< of a closing tag: its bytes, if not those of the file
};

class MarkdownInlines {
 public:
  MarkdownInlines(TextDocument& document, std::span<const Range> lines, const MarkdownContext& context)
      : bytes_(document.bytes()),
        lines_(lines),
        context_(context),
        builder_(document, {LineEnds::break_lines, Worth::letters, &escape_markdown}) {}

  void run() {
    for (line_ = 0; line_ < lines_.size(); ++line_) {
      for (at_ = std::max(at_, lines_[line_].begin); at_ < lines_[line_].end;)
        if (!take()) ++at_;
      if (line_ + 1 < lines_.size()) end_of_line();
    }
    emphasise();
    build();
  }

 private:
  // The bytes from `at` to the end of the block; between lines they have what stands before each line.
  std::string_view rest(std::size_t at) const { return bytes_.substr(at, lines_.back().end - at); }
  char before(std::size_t at) const { return at > lines_[line_].begin ? bytes_[at - 1] : ' '; }

  void add(Found f) {
    at_ = f.raw.end;
    // What reaches into a later line.
    while (line_ + 1 < lines_.size() && at_ > lines_[line_].end) ++line_;
    found_.push_back(std::move(f));
  }

  void end_of_line() {
    const Range gap{lines_[line_].end, lines_[line_ + 1].begin};
    if (at_ > gap.begin) return;
    std::size_t begin = gap.begin;
    while (begin > lines_[line_].begin && bytes_[begin - 1] == ' ') --begin;
    const bool hard = gap.begin - begin >= 2,
               escaped = begin == gap.begin && before(begin) == '\\' && (begin < 2 || bytes_[begin - 2] != '\\');
    if (hard || escaped)
      found_.push_back({Found::end, {escaped ? begin - 1 : begin, gap.end}});
    else
      found_.push_back({Found::line_break, {begin, gap.end}});
    at_ = gap.end;
  }

  bool take() {
    const char c = bytes_[at_];
    switch (c) {
      case '\\':
        return take_escape();
      case '`':
        return take_code();
      case '<':
        return take_tag();
      case '&':
        return take_reference();
      case '*':
      case '_':
      case '~':
        return take_delimiters();
      case '$':
        return take_formula() || take_bare(1);
      case '!':
        if (rest(at_).starts_with("![")) return take_opening(2);
        return false;
      case '[':
        return take_footnote() || take_opening(1);
      case ']':
        return take_closing();
      case '>':
      case '|':
        return take_bare(1);
      case '@':
        return take_mail_address();
      case 'h':
      case 'w':
        return take_address();
      default:
        return false;
    }
  }

  bool take_bare(std::size_t size) {
    add({Found::bare, {at_, at_ + size}});
    return true;
  }
  bool take_escape() {
    if (at_ + 1 >= lines_[line_].end || !is_ascii_punctuation(bytes_[at_ + 1])) {
      if (at_ + 1 >= lines_[line_].end) return false;  // a hard line break, or the block's end
      return take_bare(1);
    }
    add({Found::character, {at_, at_ + 2}, std::string(1, bytes_[at_ + 1])});
    return true;
  }
  bool take_reference() {
    const auto reference = character_reference(rest(at_));
    if (!reference || reference->text.size() == 0) return false;
    add({Found::character, {at_, at_ + reference->bytes}, reference->text});
    return true;
  }

  // The text of bytes that may reach over lines.
  std::string on_one_line(Range raw) const {
    std::string text;
    auto l = std::lower_bound(lines_.begin(), lines_.end(), raw.begin,
                              [](const Range& line, std::size_t begin) { return line.end <= begin; });
    for (; l != lines_.end() && l->begin < raw.end; ++l) {
      if (!text.empty()) text += ' ';
      const std::size_t begin = std::max(l->begin, raw.begin);
      text += bytes_.substr(begin, std::min(l->end, raw.end) - begin);
    }
    return text;
  }

  bool take_code() {
    const std::string_view text = rest(at_);
    const std::size_t size = std::min(text.find_first_not_of('`'), text.size());
    if (no_code_ends_.size() <= size) no_code_ends_.resize(size + 1, false);
    if (no_code_ends_[size]) return take_bare(size);
    for (std::size_t end = text.find('`', size); end != std::string_view::npos;) {
      const std::size_t after = std::min(text.find_first_not_of('`', end), text.size());
      if (after - end == size) {
        add({Found::fixed, {at_, at_ + after}, on_one_line({at_ + size, at_ + end})});
        return true;
      }
      end = text.find('`', after);
    }
    no_code_ends_[size] = true;
    return take_bare(size);
  }

  bool take_formula() {
    const std::string_view text = rest(at_);
    const std::size_t size = text.starts_with("$$") ? 2 : 1;
    if (no_formula_ends_ || text.size() <= size || is_blank(text[size])) return false;
    const std::string_view sign = text.substr(0, size);
    const std::size_t end = text.find(sign, size);
    if (end == std::string_view::npos) return no_formula_ends_ = true, false;
    const std::size_t after = end + size;
    if (is_blank(text[end - 1]) || end == size ||
        (after < text.size() && std::isdigit(static_cast<unsigned char>(text[after])) != 0))
      return false;
    add({Found::fixed, {at_, at_ + after}, on_one_line({at_, at_ + after})});
    return true;
  }

  bool take_tag() {
    const std::string_view text = rest(at_);
    // <https://example.org>, <a@b.c>
    const std::size_t end = text.substr(0, 2000).find_first_of("> \n<", 1);
    if (end != std::string_view::npos && text[end] == '>') {
      const std::string_view inside = text.substr(1, end - 1);
      const std::size_t colon = inside.find(':');
      const auto is_scheme = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '+' || c == '-' || c == '.';
      };
      if ((colon != std::string_view::npos && colon >= 2 &&
           std::all_of(inside.begin(), inside.begin() + static_cast<std::ptrdiff_t>(colon), is_scheme)) ||
          (inside.find('@') != std::string_view::npos && inside.find('=') == std::string_view::npos)) {
        add({Found::fixed, {at_, at_ + end + 1}, std::string(inside)});
        return true;
      }
    }
    if (unclosed_tags_ >= most_open) return take_bare(1);
    const auto tag = context_.tags.at(at_);
    if (!tag) return take_bare(1);
    if (tag->size > text.size()) return ++unclosed_tags_, take_bare(1);
    const Range raw{at_, at_ + tag->size};
    if (tag->name == "br")
      add({Found::end, raw});
    else if (is_code_element(tag->name) && !tag->closing && !tag->alone) {
      const Range element = context_.tags.element(at_, *tag);
      if (element.end > lines_.back().end) return ++unclosed_tags_, take_bare(1);
      add({Found::fixed, element, context_.tags.text_of(element)});
    } else if (tag->name.empty() || tag->alone || is_void_element(tag->name))
      add({Found::point, raw});
    else
      add({tag->closing ? Found::close : Found::open, raw, "<" + tag->name});
    return true;
  }

  bool take_footnote() {
    const std::string_view text = rest(at_);
    if (!text.starts_with("[^")) return false;
    const std::size_t end = text.substr(0, 200).find_first_of("] \n", 2);
    if (end == std::string_view::npos || text[end] != ']' || end == 2) return false;
    add({Found::point, {at_, at_ + end + 1}});
    return true;
  }
  bool take_opening(std::size_t size) {
    brackets_.push_back(found_.size());
    add({Found::bare, {at_, at_ + size}});
    return true;
  }

  // The end of "(address "title")" at byte `at`.
  std::optional<std::size_t> end_of_address(std::size_t at) const {
    int depth = 0;
    char quote = 0;
    const std::size_t most = std::min(lines_.back().end, at + 4000);
    for (std::size_t i = at; i < most; ++i) {
      const char c = bytes_[i];
      if (c == '\\') {
        ++i;
      } else if (quote != 0) {
        if (c == quote) quote = 0;
      } else if ((c == '"' || c == '\'') && is_blank(bytes_[i - 1])) {
        quote = c;
      } else if (c == '(') {
        ++depth;
      } else if (c == ')' && --depth == 0) {
        return i + 1;
      } else if (c == '<' && depth == 1 && bytes_[i - 1] == '(') {
        i = bytes_.find('>', i);
        if (i >= most) return std::nullopt;
      }
    }
    return std::nullopt;
  }

  bool take_closing() {
    if (brackets_.empty()) return take_bare(1);
    const std::size_t opening = brackets_.back();
    brackets_.pop_back();
    const std::size_t after = at_ + 1;
    const Range inside{found_[opening].raw.end, at_};
    const std::string label = inside.size() <= most_label ? on_one_line(inside) : "";
    std::size_t end = after;
    std::string written;
    if (after < lines_.back().end && bytes_[after] == '(') {
      const auto address = open_addresses_ < most_open ? end_of_address(after) : std::nullopt;
      address ? end = *address : ++open_addresses_;
    } else if (after < lines_.back().end && bytes_[after] == '[') {
      const std::size_t close = rest(after).substr(0, most_label + 2).find(']');
      if (close != std::string_view::npos) {
        const std::string named = on_one_line({after + 1, after + close});
        if (context_.labels.contains(link_label(named.empty() ? label : named))) {
          end = after + close + 1;
          if (named.empty()) written = "][" + label + "]";
        }
      }
    }
    if (end == after && context_.labels.contains(link_label(label))) written = "][" + label + "]";
    if (end == after && written.empty()) {
      take_bare(1);
      return true;
    }
    found_[opening].kind = Found::open;
    found_[opening].text = "[" + std::to_string(opening);
    add({Found::close, {at_, end}, found_[opening].text, written});
    return true;
  }

  bool take_address() {
    const std::string_view text = rest(at_);
    if (!text.starts_with("http://") && !text.starts_with("https://") && !text.starts_with("www.")) return false;
    const char b = before(at_);
    if (std::isalnum(static_cast<unsigned char>(b)) != 0 || b == '/' || static_cast<unsigned char>(b) >= 0x80)
      return false;
    std::size_t end = std::min(text.find_first_of(" \t\r\n<>`\"*|"), lines_[line_].end - at_);
    int open = 0;
    for (std::size_t i = 0; i < end; ++i)
      if (text[i] == '(')
        ++open;
      else if ((text[i] == ')' && --open < 0) || text[i] == ']' || text[i] == '[')
        end = i;
    while (end > 0 && std::string_view(".,:;!?'_~").find(text[end - 1]) != std::string_view::npos) --end;
    if (end < 8) return false;
    add({Found::fixed, {at_, at_ + end}, std::string(text.substr(0, end))});
    return true;
  }

  bool take_mail_address() {
    const auto is_of_name = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' || c == '_' || c == '+';
    };
    const std::size_t least = std::max(lines_[line_].begin, found_.empty() ? 0 : found_.back().raw.end);
    std::size_t begin = at_, end = at_ + 1;
    while (begin > least && is_of_name(bytes_[begin - 1])) --begin;
    while (end < lines_[line_].end && is_of_name(bytes_[end])) ++end;
    while (end > at_ + 1 && std::isalnum(static_cast<unsigned char>(bytes_[end - 1])) == 0) --end;
    if (begin == at_ || bytes_.substr(at_, end - at_).find('.') == std::string_view::npos) return false;
    add({Found::fixed, {begin, end}, std::string(bytes_.substr(begin, end - begin))});
    return true;
  }

  // CommonMark's rule: a run that white space does not follow may open, one that it does not precede may close.
  bool take_delimiters() {
    const char sign = bytes_[at_];
    std::size_t end = at_;
    while (end < lines_[line_].end && bytes_[end] == sign) ++end;
    if (sign == '~' && end - at_ != 2) return take_bare(end - at_);
    const std::string_view line = bytes_.substr(lines_[line_].begin, lines_[line_].size());
    const auto kind_at = [&](std::size_t byte, bool next) -> std::uint8_t {
      if (next ? byte >= lines_[line_].end : byte <= lines_[line_].begin) return kind_space;
      const std::size_t in_line = byte - lines_[line_].begin;
      const char32_t code = character_at(line, next ? in_line : last_character(line, in_line)).code;
      const std::uint8_t kind = CharacterKinds::table()(code);
      return code < 0x80 && is_ascii_punctuation(static_cast<char>(code))
                 ? static_cast<std::uint8_t>(kind | kind_punctuation)
                 : kind;
    };
    const std::uint8_t previous = kind_at(at_, false), next = kind_at(end, true);
    const auto is = [](std::uint8_t kind, std::uint8_t what) { return (kind & what) != 0; };
    const bool left = !is(next, kind_space) &&
                      (!is(next, kind_punctuation) || is(previous, kind_space) || is(previous, kind_punctuation));
    const bool right = !is(previous, kind_space) &&
                       (!is(previous, kind_punctuation) || is(next, kind_space) || is(next, kind_punctuation));
    const bool opens = left && (sign != '_' || !right || is(previous, kind_punctuation));
    const bool closes = right && (sign != '_' || !left || is(next, kind_punctuation));
    if (!opens && !closes) return take_bare(end - at_);
    delimiters_.push_back({{at_, end}, sign, opens, closes, end - at_});
    at_ = end;
    return true;
  }

  // CommonMark's procedure: each run that closes looks back for one that opens.
  void emphasise() {
    std::vector<std::size_t> open;  // numbers of delimiters
    for (std::size_t d = 0; d < delimiters_.size(); ++d) {
      Delimiter& closer = delimiters_[d];
      while (closer.closes && !closer.at.empty()) {
        const auto opener = std::find_if(open.rbegin(), open.rend(), [&](std::size_t o) {
          const Delimiter& x = delimiters_[o];
          const bool thirds = (x.closes || closer.opens) && (x.whole + closer.whole) % 3 == 0 &&
                              (x.whole % 3 != 0 || closer.whole % 3 != 0);
          return x.sign == closer.sign && !thirds;
        });
        if (opener == open.rend()) break;
        Delimiter& x = delimiters_[*opener];
        const std::size_t size = x.at.size() >= 2 && closer.at.size() >= 2 ? 2 : 1;
        const std::string name = "*" + std::to_string(emphases_++);
        found_.push_back({Found::open, {x.at.end - size, x.at.end}, name});
        found_.push_back({Found::close, {closer.at.begin, closer.at.begin + size}, name});
        x.at.end -= size, closer.at.begin += size;
        open.erase(opener.base(), open.end());
        if (x.at.empty()) open.pop_back();
      }
      if (closer.opens && !closer.at.empty() && open.size() < most_open) open.push_back(d);
    }
    for (const Delimiter& d : delimiters_)
      if (!d.at.empty()) found_.push_back({Found::bare, d.at});
  }

  void build() {
    std::sort(found_.begin(), found_.end(), [](const Found& a, const Found& b) { return a.raw.begin < b.raw.begin; });
    std::size_t done = lines_.front().begin;
    const auto plain = [&](std::size_t end) {
      if (done < end) builder_.plain({done, end});
      done = std::max(done, end);
    };
    for (const Found& f : found_) {
      if (f.raw.begin < done) continue;
      plain(f.raw.begin);
      if (builder_.is_full() && (f.kind == Found::open || f.kind == Found::close)) builder_.end();
      switch (f.kind) {
        case Found::open:
          builder_.open(f.raw, f.text);
          break;
        case Found::close:
          builder_.close(f.raw, f.text, f.written);
          break;
        case Found::point:
          builder_.point(f.raw);
          break;
        case Found::fixed:
          builder_.fixed(f.raw, f.text, false);
          break;
        case Found::character:
          builder_.character(f.raw, f.text);
          break;
        case Found::line_break:
          builder_.line_break(f.raw);
          break;
        case Found::end:
          builder_.end();
          break;
        case Found::bare:
          for (std::size_t i = f.raw.begin; i < f.raw.end; ++i) builder_.character({i, i + 1}, bytes_.substr(i, 1));
          break;
      }
      done = f.raw.end;
    }
    plain(lines_.back().end);
    builder_.end();
  }

  static constexpr std::size_t most_open = 200;    ///< delimiters, or addresses, without a counterpart
  static constexpr std::size_t most_label = 1000;  ///< bytes of a link's label, as CommonMark has it

  std::string_view bytes_;
  std::span<const Range> lines_;
  const MarkdownContext& context_;
  SegmentBuilder builder_;
  std::size_t line_ = 0, at_ = 0;
  std::vector<Found> found_;
  std::vector<Delimiter> delimiters_;
  std::vector<std::size_t> brackets_;  ///< numbers in found_ of openings
  std::vector<bool> no_code_ends_;     ///< by the length of a run of backticks
  bool no_formula_ends_ = false;
  std::size_t emphases_ = 0, open_addresses_ = 0, unclosed_tags_ = 0;
};

}  // namespace

std::string link_label(std::string_view label) {
  std::string s;
  for (const char c : label)
    if (!is_blank(c))
      s += c;
    else if (!s.empty() && s.back() != ' ')
      s += ' ';
  if (s.ends_with(' ')) s.pop_back();
  return folded_case(s);
}

void add_markdown_inlines(TextDocument& document, std::span<const Range> lines, const MarkdownContext& context) {
  MarkdownInlines(document, lines, context).run();
}

}  // namespace tril::document
