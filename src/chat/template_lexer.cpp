// Splits a template into tokens. White space: a newline right after %} or #} is removed (trim_blocks), and so are
// blanks between the start of a line and {% or {# (lstrip_blocks); "-" removes all white space on its side, "+" none.
#include <algorithm>
#include <array>
#include <charconv>

#include "base/error.h"
#include "base/printable.h"
#include "chat/template_syntax.h"
#include "unicode/characters.h"

namespace tril::chat {
namespace {

bool is_space(char32_t c) {  // Python's \s
  return (c >= 0x1c && c <= 0x1f) || (CharacterKinds::table()(c) & kind_space) != 0;
}

std::size_t end_of_space(std::string_view s, std::size_t at) {
  while (at < s.size() && is_space(character_at(s, at).code)) at += character_at(s, at).length;
  return at;
}

std::string_view without_space_behind(std::string_view s) {
  while (!s.empty()) {
    const std::size_t last = last_character(s, s.size());
    if (!is_space(character_at(s, last).code)) break;
    s = s.substr(0, last);
  }
  return s;
}

// Newlines become \n, and a final one is dropped.
std::string normalized(std::string_view source) {
  std::string out;
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] != '\r') {
      out += source[i];
      continue;
    }
    out += '\n';
    if (i + 1 < source.size() && source[i + 1] == '\n') ++i;
  }
  if (out.ends_with('\n')) out.pop_back();
  return out;
}

bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

class Lexer {
 public:
  Lexer(std::string source, const std::string& where) : source_(std::move(source)), where_(where) {}

  std::vector<Token> read() {
    const std::string_view s = source_;
    while (at_ < s.size()) {
      const std::size_t open = next_opening(at_);
      const char sort = open < s.size() ? s[open + 1] : '\0';
      std::string_view text = s.substr(at_, open - at_);
      const char sign = open + 2 < s.size() ? s[open + 2] : '\0';
      if (sort != '\0') text = trimmed_before(text, sort, sign);
      add(Token::text, std::string(text));
      advance(open);
      if (sort == '\0') break;
      at_ = open + 2 + (sign == '-' || sign == '+' ? 1 : 0);
      if (sort == '#')
        skip_comment();
      else if (sort == '{')
        read_inside(Token::print_begin, "}}");
      else if (!skip_raw())
        read_inside(Token::block_begin, "%}");
    }
    add(Token::end, "");
    return std::move(tokens_);
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const { fail(fmt::format("{}: line {}", where_, line_), what); }

  std::size_t next_opening(std::size_t from) const {
    for (std::size_t i = source_.find('{', from); i != std::string::npos; i = source_.find('{', i + 1))
      if (i + 1 < source_.size() && (source_[i + 1] == '{' || source_[i + 1] == '%' || source_[i + 1] == '#')) return i;
    return source_.size();
  }

  std::string_view trimmed_before(std::string_view text, char sort, char sign) const {
    if (sign == '-') return without_space_behind(text);
    if (sign == '+' || sort == '{') return text;
    const std::size_t newline = text.rfind('\n');
    const std::size_t line = newline == text.npos ? 0 : newline + 1;
    if (newline == text.npos && !line_starting_) return text;
    const bool blank = line < text.size() && end_of_space(text, line) == text.size();
    return blank ? text.substr(0, line) : text;
  }

  void add(Token::Kind kind, std::string value) {
    if (kind == Token::text && value.empty()) return;
    tokens_.push_back({kind, std::move(value), line_});
  }

  void advance(std::size_t to) {
    line_ += static_cast<int>(std::ranges::count(source_.substr(at_, to - at_), '\n'));
    at_ = to;
  }

  // Handles white space after a closing bracket that ends at `end` and was preceded by `sign`.
  void close(std::size_t end, char sign, bool block) {
    std::size_t next = end;
    if (sign == '-')
      next = end_of_space(source_, end);
    else if (sign != '+' && block && end < source_.size() && source_[end] == '\n')
      ++next;
    line_starting_ = source_[next - 1] == '\n';
    advance(next);
  }

  void skip_comment() {
    const std::size_t end = source_.find("#}", at_);
    if (end == std::string::npos) refuse("a comment {# is not closed");
    const char sign = end > at_ && (source_[end - 1] == '-' || source_[end - 1] == '+') ? source_[end - 1] : '\0';
    advance(end);
    close(end + 2, sign, true);
  }

  // {% raw %}...{% endraw %}
  bool skip_raw() {
    const std::string_view s = source_;
    std::size_t i = end_of_space(s, at_);
    if (!s.substr(i).starts_with("raw")) return false;
    i = end_of_space(s, i + 3);
    const bool minus = s.substr(i).starts_with("-%}");
    if (!minus && !s.substr(i).starts_with("%}")) return false;
    const std::size_t begin = minus ? end_of_space(s, i + 3) : i + 2;
    for (std::size_t open = s.find("{%", begin); open != s.npos; open = s.find("{%", open + 1)) {
      const char sign = open + 2 < s.size() ? s[open + 2] : '\0';
      std::size_t word = end_of_space(s, open + 2 + (sign == '-' || sign == '+' ? 1 : 0));
      if (!s.substr(word).starts_with("endraw")) continue;
      word = end_of_space(s, word + 6);
      const char closing = word < s.size() && (s[word] == '-' || s[word] == '+') ? s[word] : '\0';
      if (closing != '\0') ++word;
      if (!s.substr(word).starts_with("%}")) continue;
      std::string_view text = s.substr(begin, open - begin);
      line_starting_ = begin > 0 && s[begin - 1] == '\n';
      add(Token::text, std::string(trimmed_before(text, '%', sign)));
      advance(word);
      close(word + 2, closing, true);
      return true;
    }
    refuse("{% raw %} is not closed");
  }

  // The tokens up to the closing bracket.
  void read_inside(Token::Kind begin, std::string_view closing) {
    const std::string_view s = source_;
    const bool block = begin == Token::block_begin;
    add(begin, "");
    int open_brackets = 0;
    while (true) {
      advance(end_of_space(s, at_));
      if (at_ >= s.size()) refuse(fmt::format("\"{}\" is missing", closing));
      const char c = s[at_];
      const bool signed_close = (c == '-' || (c == '+' && block)) && s.substr(at_ + 1).starts_with(closing);
      if (open_brackets == 0 && (signed_close || s.substr(at_).starts_with(closing))) {
        add(block ? Token::block_end : Token::print_end, "");
        close(at_ + closing.size() + (signed_close ? 1 : 0), signed_close ? c : '\0', block);
        return;
      }
      if (is_name_start(c))
        read_name();
      else if (is_digit(c))
        read_number();
      else if (c == '\'' || c == '"')
        read_string(c);
      else
        read_sign(open_brackets);
    }
  }

  void read_name() {
    std::size_t end = at_;
    while (end < source_.size() && (is_name_start(source_[end]) || is_digit(source_[end]))) ++end;
    add(Token::name, source_.substr(at_, end - at_));
    at_ = end;
  }

  void read_number() {
    std::size_t end = at_;
    std::string digits;
    const auto take_digits = [&] {
      for (; end < source_.size() && (is_digit(source_[end]) || source_[end] == '_'); ++end)
        if (source_[end] != '_') digits += source_[end];
    };
    if (read_number_of_base()) return;
    take_digits();
    bool real = false;
    if (end + 1 < source_.size() && source_[end] == '.' && is_digit(source_[end + 1])) {
      real = true;
      digits += source_[end++];
      take_digits();
    }
    if (end < source_.size() && (source_[end] | 0x20) == 'e') {
      const std::size_t sign = end + 1 < source_.size() && (source_[end + 1] == '-' || source_[end + 1] == '+') ? 1 : 0;
      if (end + 1 + sign < source_.size() && is_digit(source_[end + 1 + sign])) {
        real = true;
        digits.append(source_, end, 1 + sign);
        end += 1 + sign;
        take_digits();
      }
    }
    if (digits.size() > 300) refuse("a number has too many digits");
    add(real ? Token::real : Token::integer, digits);
    at_ = end;
  }

  // 0b11, 0o17, 0xff
  bool read_number_of_base() {
    const std::string_view s = std::string_view(source_).substr(at_);
    const std::size_t kind = s[0] == '0' && s.size() > 1 ? std::string_view("box").find(static_cast<char>(s[1] | 0x20))
                                                         : std::string_view::npos;
    if (kind == std::string_view::npos) return false;
    constexpr std::array<int, 3> bases{2, 8, 16};
    constexpr std::string_view all = "0123456789abcdef";
    const std::string_view known = all.substr(0, static_cast<std::size_t>(bases[kind]));
    std::size_t end = 2;
    std::string digits;
    for (; end < s.size(); ++end) {
      const bool upper = s[end] >= 'A' && s[end] <= 'F', gap = s[end] == '_';
      const char digit = upper ? static_cast<char>(s[end] | 0x20) : s[end];
      const bool is_digit_next = end + 1 < s.size() && known.find(static_cast<char>(s[end + 1] | 0x20)) != known.npos;
      if (gap ? !is_digit_next : known.find(digit) == known.npos) break;
      if (!gap) digits += digit;
    }
    if (digits.empty()) return false;
    std::int64_t value = 0;
    if (std::from_chars(digits.data(), digits.data() + digits.size(), value, bases[kind]).ec != std::errc{})
      refuse("a number is too large");
    add(Token::integer, std::to_string(value));
    at_ += end;
    return true;
  }

  void read_string(char quote) {
    std::string value;
    std::size_t i = at_ + 1;
    while (i < source_.size() && source_[i] != quote) {
      if (source_[i] != '\\')
        value += source_[i++];
      else
        i = read_escape(i + 1, value);
    }
    if (i >= source_.size()) refuse("a string is not closed");
    add(Token::string, value);
    advance(i + 1);
  }

  // An escape of a Python string, after its backslash.
  std::size_t read_escape(std::size_t i, std::string& value) {
    if (i >= source_.size()) return i;
    const char c = source_[i];
    constexpr std::string_view letters = "\\'\"abfnrtv\n", meanings = "\\'\"\a\b\f\n\r\t\v";
    const std::size_t known = letters.find(c);
    if (known < meanings.size()) {
      value += meanings[known];
      return i + 1;
    }
    if (c == '\n') return i + 1;
    if (c == 'x') return read_code(i + 1, 2, 16, value);
    if (c == 'u') return read_code(i + 1, 4, 16, value);
    if (c == 'U') return read_code(i + 1, 8, 16, value);
    if (c >= '0' && c <= '7') return read_code(i, 3, 8, value);
    if (c == 'N') refuse("\\N{...} in a string is not supported");
    value += '\\';
    return i;
  }

  std::size_t read_code(std::size_t i, std::size_t digits, unsigned base, std::string& value) {
    std::uint64_t code = 0;
    std::size_t n = 0;
    for (; n < digits && i + n < source_.size(); ++n) {
      const char c = source_[i + n];
      const unsigned digit = is_digit(c)                              ? static_cast<unsigned>(c - '0')
                             : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? static_cast<unsigned>((c | 0x20) - 'a' + 10)
                                                                      : 99;
      if (digit >= base) break;
      code = code * base + digit;
    }
    if (base == 16 && n != digits) refuse("an escape in a string is incomplete");
    if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) refuse("an escape in a string is not a character");
    append_utf8(value, static_cast<char32_t>(code));
    return i + n;
  }

  void read_sign(int& open_brackets) {
    constexpr std::array<std::string_view, 6> longer = {"//", "**", "==", "!=", "<=", ">="};
    const std::string_view rest = std::string_view(source_).substr(at_);
    std::string_view sign = rest.substr(0, 1);
    for (std::string_view two : longer)
      if (rest.starts_with(two)) sign = two;
    constexpr std::string_view known = "+-*/%~[](){}<>=.:|,;";
    if (sign.size() == 1 && known.find(sign[0]) == known.npos)
      refuse(fmt::format("unexpected \"{}\"", printable(rest.substr(0, character_at(rest, 0).length))));
    if (sign == "(" || sign == "[" || sign == "{") ++open_brackets;
    if ((sign == ")" || sign == "]" || sign == "}") && --open_brackets < 0)
      refuse(fmt::format("\"{}\" has no opening bracket", sign));
    add(Token::sign, std::string(sign));
    at_ += sign.size();
  }

  std::string source_;
  const std::string& where_;
  std::size_t at_ = 0;
  int line_ = 1;
  bool line_starting_ = true;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> read_tokens(std::string_view source, const std::string& where) {
  return Lexer(normalized(source), where).read();
}

}  // namespace tril::chat
