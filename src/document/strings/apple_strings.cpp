#include "document/strings/apple_strings.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "base/error.h"
#include "base/line_of.h"
#include "base/printable.h"
#include "document/segments/stated_encoding.h"
#include "document/segments/string_segment.h"
#include "document/segments/unicode_escape.h"
#include "document/segments/utf16_text.h"
#include "document/segments/words.h"
#include "document/strings/apple_property_list.h"
#include "unicode/characters.h"

namespace tril::document {
namespace {

// A string in these quotes.
std::string escape_apple(std::string_view text, char quote) {
  return escaped_controls(text, {&quote, 1});
}
std::string escape_in_double_quotes(std::string_view text, const Slot&) {
  return escape_apple(text, '"');
}
std::string escape_in_single_quotes(std::string_view text, const Slot&) {
  return escape_apple(text, '\'');
}

constexpr std::string_view control_letters = "abfnrtv", controls = "\a\b\f\n\r\t\v";

// At most three.
std::size_t octal_digits(std::string_view text) {
  std::size_t n = 0;
  while (n < std::min<std::size_t>(text.size(), 3) && text[n] >= '0' && text[n] <= '7') ++n;
  return n;
}

std::string unescaped_apple(std::string_view raw) {
  std::string s;
  for (std::size_t at = 0; at < raw.size(); ++at) {
    if (raw[at] != '\\' || at + 1 == raw.size()) {
      s += raw[at];
      continue;
    }
    auto known = unicode_escape(raw.substr(at), 'U');
    if (!known) known = unicode_escape(raw.substr(at));
    if (known) {
      s += known->text;
      at += known->bytes - 1;
      continue;
    }
    const std::size_t digits = octal_digits(raw.substr(at + 1));
    if (digits > 0) {
      int code = 0;
      std::from_chars(raw.data() + at + 1, raw.data() + at + 1 + digits, code, 8);
      s += static_cast<char>(code);  // below 128: string() refuses others
      at += digits;
      continue;
    }
    const char c = raw[++at];
    const std::size_t letter = control_letters.find(c);
    s += letter == std::string_view::npos ? c : controls[letter];
  }
  return s;
}

// A key or a value.
struct AppleString {
  Range at;        ///< within its quotes
  char quote = 0;  ///< '"' or '\''; 0: none
};

class AppleReader {
 public:
  AppleReader(TextDocument& document, const std::string& where)
      : document_(document), bytes_(document.bytes()), where_(where), at_(bytes_.starts_with("\xef\xbb\xbf") ? 3 : 0) {}

  void run() {
    for (skip_comments(); at_ < bytes_.size(); skip_comments()) {
      const AppleString key = string("a key");
      skip_comments();
      const std::size_t key_end = key.at.end + (key.quote != 0 ? 1 : 0);
      if (take('=')) {
        skip_comments();
        const AppleString value = string("a value");
        add(value.at, value, value.quote != 0 ? "" : "\"");
        skip_comments();
      } else {
        add({key_end, key_end}, key, " = \"");
      }
      if (!take(';')) refuse("expected ; after an entry");
    }
  }

 private:
  [[noreturn]] void refuse(const std::string& what,
                           const char* hint = "an entry has the form \"key\" = \"value\";") const {
    fail(fmt::format("{}: line {}", where_, line_of(bytes_, at_)), what, hint);
  }
  // In place of a key or value. Other property lists in text form have dictionaries, arrays and data.
  [[noreturn]] void refuse_value(const std::string& what) const {
    if (at_ == bytes_.size()) refuse(fmt::format("expected {}, but the file ends", what));
    const char first = bytes_[at_];
    const char* kind = first == '{' ? "a dictionary" : first == '(' ? "an array" : first == '<' ? "data" : nullptr;
    if (kind)
      refuse(fmt::format("expected {}, got {} of a property list in text form", what, kind),
             "convert the file: plutil -convert xml1 FILE; a .strings file in XML form is read");
    refuse(fmt::format("expected {}, got \"{}\"", what,
                       printable(bytes_.substr(at_, character_at(bytes_, at_).length), 20)));
  }
  bool take(char c) {
    if (at_ >= bytes_.size() || bytes_[at_] != c) return false;
    ++at_;
    return true;
  }
  void skip_comments() {
    while (at_ < bytes_.size()) {
      const std::string_view rest = bytes_.substr(at_);
      if (is_blank(rest[0])) {
        ++at_;
      } else if (rest.starts_with("//")) {
        at_ = std::min(bytes_.find('\n', at_), bytes_.size());
      } else if (rest.starts_with("/*")) {
        const std::size_t end = bytes_.find("*/", at_ + 2);
        if (end == std::string_view::npos) refuse("its comment is not closed");
        at_ = end + 2;
      } else {
        return;
      }
    }
  }

  AppleString string(const std::string& what) {
    const auto is_plain = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
             std::string_view("_$/:.-").find(c) != std::string_view::npos;
    };
    if (const char quote = take('"') ? '"' : take('\'') ? '\'' : '\0') {
      const std::size_t begin = at_;
      while (at_ < bytes_.size() && bytes_[at_] != quote) {
        const bool is_escape = bytes_[at_] == '\\';
        if (is_escape && octal_digits(bytes_.substr(at_ + 1)) == 3 && bytes_[at_ + 1] > '1')
          refuse(fmt::format("{} is a character of NeXTSTEP's encoding", printable(bytes_.substr(at_, 4))),
                 "write the character itself, or \\U and four hexadecimal digits");
        at_ += is_escape ? 2 : 1;
      }
      if (at_ >= bytes_.size()) {
        at_ = begin;
        refuse("a string is not closed");
      }
      return {{begin, at_++}, quote};
    }
    const std::size_t begin = at_;
    while (at_ < bytes_.size() && is_plain(bytes_[at_])) ++at_;
    if (at_ == begin) refuse_value(what);
    return {{begin, at_}, 0};
  }

  // @param at  where the translation is written @param before  written before a translation that gets quotes; "": it is in those of
  // the source
  void add(Range at, const AppleString& source, const std::string& before) {
    const std::string_view raw = bytes_.substr(source.at.begin, source.at.size());
    const char quote = before.empty() ? source.quote : '"';
    Segment segment = string_segment(
        source.quote != 0 ? unescaped_apple(raw) : std::string(raw),
        [quote](std::string_view text) { return escape_apple(text, quote); }, ShortcutKeys::none);
    if (!is_worth_translating(segment)) return;
    Slot slot{.at = at, .escape = quote == '"' ? &escape_in_double_quotes : &escape_in_single_quotes};
    if (!before.empty()) slot.finish = [before](const std::string& text) { return before + text + "\""; };
    document_.add(std::move(slot), std::move(segment));
  }

  TextDocument& document_;
  std::string_view bytes_;
  const std::string& where_;
  std::size_t at_;
};

}  // namespace

std::unique_ptr<Document> read_apple_strings(std::string bytes, const DocumentOptions& options) {
  const auto read = [&](std::string text) -> std::unique_ptr<Document> {
    const std::size_t start = text.starts_with("\xef\xbb\xbf") ? 3 : 0;
    if (text.size() > start && text[start] == '<') return read_apple_property_list(std::move(text), options);
    auto document = std::make_unique<TextDocument>(std::move(text));
    AppleReader(*document, options.where).run();
    return document;
  };
  if (bytes.starts_with("bplist"))
    fail(options.where, "is a property list in binary form, expected text",
         "translate the file that it was made from, or convert it: plutil -convert xml1 FILE");
  if (is_utf16(bytes)) return read_utf16(bytes, options.where, read);
  check_encoding(bytes, options.where);
  if (const std::size_t start = bytes.starts_with("\xef\xbb\xbf") ? 3 : 0; bytes.size() > start && bytes[start] == '<')
    bytes = with_stated_utf8(std::move(bytes), StatesEncoding::xml, options.where);
  return read(std::move(bytes));
}

}  // namespace tril::document
