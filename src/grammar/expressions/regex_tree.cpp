#include "grammar/expressions/regex_tree.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "grammar/expressions/unsupported.h"

namespace tril::search {
namespace {

using Node = RegexNode;

constexpr std::int64_t most_repeats = 100'000;
constexpr int deepest = 200;

const CharSet digits{{'0', '9'}};
const CharSet word_chars{{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
const CharSet spaces{{'\t', '\r'},     {' ', ' '},       {0xa0, 0xa0},     {0x1680, 0x1680}, {0x2000, 0x200a},
                     {0x2028, 0x2029}, {0x202f, 0x202f}, {0x205f, 0x205f}, {0x3000, 0x3000}, {0xfeff, 0xfeff}};
const CharSet ascii_spaces{{'\t', '\r'}, {' ', ' '}};
// Includes all characters that some engine may count as a digit.
const CharSet wide_digits{{'0', '9'}, {0x80, last_char}};
const CharSet wide_word_chars{{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}, {0x80, last_char}};
const CharSet wide_spaces{{'\t', '\r'}, {0x1c, ' '}, {0x80, last_char}};
const CharSet line_ends{{'\n', '\n'}, {'\r', '\r'}, {0x2028, 0x2029}};

// Recursive descent: choice -> sequence -> repeat -> one.
class RegexParser {
 public:
  RegexParser(std::string_view text, RegexReading reading)
      : text_(code_points(text, "regular expression")), wide_(reading == RegexReading::wide) {}

  Node parse() {
    Node node = choice();
    if (!done()) refuse("a ) without a (");
    return node;
  }

 private:
  bool done() const { return at_ == text_.size(); }
  bool sees(std::u32string_view what) const { return text_.compare(at_, what.size(), what) == 0; }
  bool take(std::u32string_view what) {
    if (!sees(what)) return false;
    at_ += what.size();
    return true;
  }
  char32_t next(const char* expected) {
    if (done()) refuse(fmt::format("expected {}, got the end", expected));
    return text_[at_++];
  }
  [[noreturn]] void refuse(const std::string& what) const {
    fail_usage("regular expression", fmt::format("character {}: {}", std::min(at_ + 1, text_.size()), what));
  }
  [[noreturn]] void refuse_unsupported(const std::string& what) const {
    throw Unsupported("regular expression",
                      fmt::format("character {}: {}, which is not supported", std::min(at_ + 1, text_.size()), what));
  }

  Node choice() {
    if (++depth_ > deepest) refuse(fmt::format("groups nested more than {} deep", deepest));
    Node all{.kind = Node::Kind::choice};
    do all.parts.push_back(sequence());
    while (take(U"|"));
    --depth_;
    return all.parts.size() == 1 ? std::move(all.parts[0]) : std::move(all);
  }

  Node sequence() {
    Node all{.kind = Node::Kind::sequence};
    while (!done() && !sees(U"|") && !sees(U")")) all.parts.push_back(repeat());
    return all;
  }

  Node repeat() {
    Node node = one();
    while (!done()) {
      std::int64_t least = 0, most = -1;
      if (take(U"*")) {
      } else if (take(U"+")) {
        least = 1;
      } else if (take(U"?")) {
        most = 1;
      } else if (!counted(least, most)) {
        break;
      }
      if (node.kind == Node::Kind::begin || node.kind == Node::Kind::end) refuse_unsupported("a repeat of ^ or $");
      take(U"?");  // lazy: matches the same texts
      if (sees(U"+")) refuse_unsupported("a possessive repeat");
      if (node.kind == Node::Kind::repeat && ++depth_ > deepest) refuse("too many nested repeats");
      Node all{.kind = Node::Kind::repeat, .least = least, .most = most};
      all.parts.push_back(std::move(node));
      node = std::move(all);
    }
    return node;
  }

  // {n}, {n,}, {n,m}; any other { is a plain character.
  bool counted(std::int64_t& least, std::int64_t& most) {
    const std::size_t from = at_;
    if (!take(U"{")) return false;
    const auto number = [&](std::int64_t& n) {
      const std::size_t first = at_;
      for (n = 0; !done() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_)
        n = std::min(n * 10 + static_cast<std::int64_t>(text_[at_] - '0'), most_repeats + 1);
      return at_ > first;
    };
    const bool first = number(least);
    most = least;
    if (first && take(U",") && !number(most)) most = -1;
    if (!first || !take(U"}")) {
      at_ = from;
      return false;
    }
    if (std::max(least, most) > most_repeats) refuse(fmt::format("a repeat of more than {} times", most_repeats));
    if (most >= 0 && most < least) refuse(fmt::format("a repeat of at least {} and at most {} times", least, most));
    return true;
  }

  static Node of(CharSet chars) { return {.kind = Node::Kind::chars, .chars = std::move(chars)}; }

  Node one() {
    const char32_t c = next("a character");
    switch (c) {
      case '(':
        return group();
      case '[':
        return of(char_class());
      case '.':
        return of(complement(wide_ ? CharSet{{'\n', '\n'}} : line_ends));
      case '^':
        return {.kind = Node::Kind::begin};
      case '$':
        return {.kind = Node::Kind::end};
      case '\\':
        return of(escape());
      case '*':
      case '+':
      case '?':
        --at_;
        refuse("a repeat of nothing");
      default:
        return of({{c, c}});
    }
  }

  Node group() {
    if (take(U"?")) {
      if (sees(U"=") || sees(U"!") || sees(U"<=") || sees(U"<!")) refuse_unsupported("look-ahead or look-behind");
      if (take(U"P<") || take(U"<")) {
        while (next("a > after the group's name") != '>') {
        }
      } else if (!take(U":")) {
        refuse("a group of a kind that is not supported: write (?: ), (?<name> ) or ( )");
      }
    }
    Node inside = choice();
    if (!take(U")")) refuse("expected ), got the end");
    return inside;
  }

  CharSet escape() {
    const char32_t c = next("a character after the backslash");
    switch (c) {
      case 'd':
        return wide_ ? wide_digits : digits;
      case 'D':
        return complement(digits);
      case 'w':
        return wide_ ? wide_word_chars : word_chars;
      case 'W':
        return complement(word_chars);
      case 's':
        return wide_ ? wide_spaces : ascii_spaces;
      case 'S':
        return complement(wide_ ? ascii_spaces : spaces);
      default: {
        const char32_t one = escaped_char(c);
        return {{one, one}};
      }
    }
  }

  char32_t escaped_char(char32_t c) {
    constexpr std::pair<char, char> short_forms[] = {{'t', '\t'}, {'n', '\n'}, {'r', '\r'},
                                                     {'f', '\f'}, {'v', '\v'}, {'0', '\0'}};
    for (const auto& [name, value] : short_forms)
      if (c == static_cast<char32_t>(name)) return static_cast<char32_t>(value);
    if (c == 'x') return hexadecimal(2);
    if (c == 'u') return unicode();
    if (c == 'c') return control();
    if (c >= '1' && c <= '9') refuse_unsupported("a back reference");
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) refuse_unsupported(fmt::format("\\{}", static_cast<char>(c)));
    return c;
  }

  char32_t hexadecimal(int count) {
    char32_t value = 0;
    for (int i = 0; i < count; ++i) {
      const char32_t c = next("a hexadecimal digit");
      const bool letter = (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
      if (!letter && (c < '0' || c > '9')) refuse("expected a hexadecimal digit");
      value = value * 16 + (letter ? (c | 0x20) - 'a' + 10 : c - '0');
    }
    return value;
  }

  // \cA is U+0001, \cJ a line feed.
  char32_t control() {
    const bool letter =
        !done() && ((text_[at_] >= 'a' && text_[at_] <= 'z') || (text_[at_] >= 'A' && text_[at_] <= 'Z'));
    if (!letter) refuse("expected a letter after \\c: \\cA to \\cZ");
    return text_[at_++] % 32;
  }

  char32_t unicode() {
    char32_t value = 0;
    if (take(U"{")) {
      int count = 0;
      while (!sees(U"}") && count++ < 6) value = value * 16 + hexadecimal(1);
      if (count == 0 || !take(U"}")) refuse("expected \\u{...} with one to six digits");
    } else {
      value = hexadecimal(4);
      if (value >= 0xd800 && value < 0xdc00 && take(U"\\u")) {  // a surrogate pair
        const char32_t low = hexadecimal(4);
        if (low < 0xdc00 || low > 0xdfff) refuse("half of a surrogate pair");
        value = 0x10000 + ((value - 0xd800) << 10) + (low - 0xdc00);
      }
    }
    if (value > last_char || (value >= 0xd800 && value <= 0xdfff)) refuse("not a character");
    return value;
  }

  // Called after "[".
  CharSet char_class() {
    const bool negated = take(U"^");
    const bool wide = std::exchange(wide_, wide_ != negated);  // the complement of a wide class is narrow
    CharSet set;
    for (bool first = true; first || !sees(U"]"); first = false) {
      if (first && sees(U"]")) break;  // [] and [^] as in ECMAScript
      if (sees(U"[:") || sees(U"&&") || sees(U"--")) refuse_unsupported("a class within a class");
      const CharSet one = class_part();
      if (one.size() == 1 && one[0].least == one[0].most && sees(U"-") && at_ + 1 < text_.size() &&
          text_[at_ + 1] != ']') {
        ++at_;
        const CharSet other = class_part();
        if (other.size() != 1 || other[0].least != other[0].most)
          refuse("a range that ends with a character class such as \\d: write \\- if the - is meant as a character");
        if (other[0].least < one[0].least) refuse("a range whose end is before its beginning");
        set.push_back({one[0].least, other[0].least});
      } else {
        set.insert(set.end(), one.begin(), one.end());
      }
    }
    if (!take(U"]")) refuse("expected ], got the end");
    wide_ = wide;
    set = intersection(normalized(std::move(set)), all_chars());
    return negated ? complement(set) : set;
  }

  CharSet class_part() {
    const char32_t c = next("a ]");
    if (c != '\\') return {{c, c}};
    if (sees(U"b")) {
      ++at_;
      return {{'\b', '\b'}};
    }
    return escape();
  }

  std::u32string text_;
  std::size_t at_ = 0;
  int depth_ = 0;
  bool wide_;
};

}  // namespace

RegexNode parse_regex(std::string_view regex, RegexReading reading) {
  return RegexParser(regex, reading).parse();
}

}  // namespace tril::search
