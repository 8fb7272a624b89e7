#include "document/strings/gettext.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

#include "base/error.h"
#include "document/segments/string_segment.h"
#include "document/segments/words.h"

namespace tril::document {
namespace {

std::string escape_c(std::string_view text) {
  return escaped_controls(text, "\"");
}
std::string escape_slot(std::string_view text, const Slot&) {
  return escape_c(text);
}

// What a C string within quotes means. @return nothing for a string that does not end
std::optional<std::string> unescaped_c(std::string_view text) {
  std::string s;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\\') {
      s += text[at];
      continue;
    }
    if (++at == text.size()) return std::nullopt;
    const std::string_view names = "ntrabfv", codes = "\n\t\r\a\b\f\v";
    if (const std::size_t n = names.find(text[at]); n != std::string_view::npos) {
      s += codes[n];
    } else if (text[at] >= '0' && text[at] <= '7') {
      unsigned value = 0;
      const std::size_t end = std::min(text.size(), at + 3);
      for (; at < end && text[at] >= '0' && text[at] <= '7'; ++at)
        value = value * 8 + static_cast<unsigned>(text[at] - '0');
      --at;
      s += static_cast<char>(value);
    } else {
      s += text[at];
    }
  }
  return s;
}

// A keyword's string: its value, and where its quoted lines stand.
struct PoString {
  std::string value;
  Range at;  ///< within the first line's quotes, to within the last line's
  bool present = false;
};

class GettextReader {
 public:
  GettextReader(std::string text, const std::string& where)
      : document_(std::make_unique<TextDocument>(std::move(text))), bytes_(document_->bytes()), where_(where) {}

  std::unique_ptr<Document> run() {
    std::size_t number = 0;
    for (std::size_t at = 0; at < bytes_.size();) {
      const std::size_t end = std::min(bytes_.find('\n', at), bytes_.size());
      ++number;
      line({at, end > at && bytes_[end - 1] == '\r' ? end - 1 : end}, number);
      at = end + 1;
    }
    finish();
    return std::move(document_);
  }

 private:
  void line(Range at, std::size_t number) {
    if (number == 1 && bytes_.starts_with("\xef\xbb\xbf")) at.begin += 3;
    std::string_view text = bytes_.substr(at.begin, at.size());
    const std::size_t blanks = std::min(text.find_first_not_of(" \t"), text.size());
    text.remove_prefix(blanks), at.begin += blanks;
    if (text.empty()) return;
    if (text[0] == '#') {
      if (has_translation_) finish();
      if (text.starts_with("#,")) flags(at, text);
      if (text.starts_with("#~")) fuzzy_.reset();  // the flag was of this obsolete message
      return;
    }
    if (text[0] == '"') {
      if (current_ == nowhere) refuse(number, "a string without msgid or msgstr before it");
      return add(at, text, number);
    }
    const std::size_t word_end = std::min(text.find_first_of("\" \t"), text.size());
    const std::string_view keyword = text.substr(0, word_end);
    PoString* target = nullptr;
    if (keyword == "msgctxt") {
      begin_message(number, "msgctxt", current_ == nowhere);
      target = &context_, current_ = context;
    } else if (keyword == "msgid_plural") {
      expect(number, "msgid_plural", current_ == id);
      target = &plural_, current_ = plural;
    } else if (keyword == "msgid") {
      begin_message(number, "msgid", current_ == nowhere || current_ == context);
      target = &id_, current_ = id;
    } else if (keyword.starts_with("msgstr")) {
      const std::string form_name = plural_.present ? fmt::format("msgstr[{}]", forms_.size()) : "msgstr";
      if (keyword != form_name) refuse(number, fmt::format("expected {}", form_name));
      expect(number, form_name, plural_.present || current_ == id);
      has_translation_ = true;
      forms_.emplace_back();
      target = &forms_.back(), current_ = form;
    } else {
      refuse(number, "expected msgid, msgstr, a comment or a string in quotes");
    }
    *target = {};
    const std::size_t quote = text.find('"');
    if (quote == std::string_view::npos || !is_blank(text.substr(word_end, quote - word_end)))
      refuse(number, "expected a string in quotes");
    add({at.begin + quote, at.end}, text.substr(quote), number);
  }

  [[noreturn]] void refuse(std::size_t number, const std::string& what, const std::string& hint = {}) const {
    fail(fmt::format("{}: line {}", where_, number), what, hint);
  }
  // A keyword where another one must stand means that lines are missing.
  void expect(std::size_t number, const std::string& keyword, bool is_expected) const {
    if (!is_expected)
      refuse(number, fmt::format("{} is in the wrong place", keyword),
             "a message consists of msgctxt (optional), msgid, msgid_plural (optional), and msgstr or msgstr[0], "
             "msgstr[1], ...");
  }
  void begin_message(std::size_t number, const std::string& keyword, bool is_expected) {
    if (has_translation_) {
      finish();
      is_expected = true;
    }
    if (!is_expected && (current_ == id || current_ == plural)) refuse_without_translation();
    expect(number, keyword, is_expected);
    if (current_ != context) first_line_ = number;
  }
  [[noreturn]] void refuse_without_translation() const {
    refuse(first_line_, "the message that begins here has no msgstr", "is the file truncated? if not, add msgstr \"\"");
  }

  PoString& current() {
    return current_ == context ? context_ : current_ == id ? id_ : current_ == plural ? plural_ : forms_.back();
  }

  // Where the string that begins with a quote ends; nothing if it does not.
  static std::optional<std::size_t> end_of_string(std::string_view text) {
    for (std::size_t at = 1; at < text.size(); at += text[at] == '\\' ? 2 : 1)
      if (text[at] == '"') return at;
    return std::nullopt;
  }

  void add(Range at, std::string_view text, std::size_t number) {
    const auto close = end_of_string(text);
    const auto value = close ? unescaped_c(text.substr(1, *close - 1)) : std::nullopt;
    if (!value) refuse(number, "its string has no end");
    if (!is_blank(text.substr(*close + 1)))
      refuse(number, "text after the string in quotes", "write a quotation mark in a string as \\\"");
    PoString& s = current();
    s.value += *value;
    if (!s.present) s.at.begin = at.begin + 1;
    s.at.end = at.begin + *close;
    s.present = true;
  }

  void flags(Range at, std::string_view text) {
    const std::size_t fuzzy = text.find("fuzzy");
    if (fuzzy == std::string_view::npos) return;
    // ", fuzzy", or the whole line if there is no other flag.
    const std::size_t comma = text.find_last_of(',', fuzzy);
    const bool alone = text.find(',', 2) == std::string_view::npos;
    const std::size_t line_end = std::min(bytes_.find('\n', at.begin), bytes_.size() - 1);
    fuzzy_ = alone ? Range{at.begin, line_end + 1} : Range{at.begin + comma, at.begin + fuzzy + 5};
  }

  void translate(const PoString& source, const PoString& target) {
    Segment segment = string_segment(source.value, escape_c);
    if (!is_worth_translating(segment)) return;
    // The flag goes with the first of the message's segments.
    document_->add(
        {.at = target.at, .without = std::exchange(fuzzy_, std::nullopt), .always = true, .escape = &escape_slot},
        std::move(segment));
  }

  void finish() {
    if (current_ != nowhere && !has_translation_) refuse_without_translation();
    if (id_.present && !id_.value.empty() && !forms_.empty()) {
      const bool was_fuzzy = fuzzy_.has_value();
      const bool empty = std::all_of(forms_.begin(), forms_.end(), [](const PoString& f) { return f.value.empty(); });
      if (empty || was_fuzzy)
        for (std::size_t f = 0; f < forms_.size(); ++f)
          translate(plural_.present && (f > 0 || forms_.size() == 1) ? plural_ : id_, forms_[f]);
    }
    context_ = id_ = plural_ = {};
    forms_.clear();
    fuzzy_.reset();
    has_translation_ = false;
    current_ = nowhere;
  }

  std::unique_ptr<TextDocument> document_;
  std::string_view bytes_;
  std::string where_;
  enum { nowhere, context, id, plural, form } current_ = nowhere;  ///< what a further string belongs to
  PoString context_, id_, plural_;
  std::vector<PoString> forms_;
  std::optional<Range> fuzzy_;  ///< the bytes of the flag
  bool has_translation_ = false;
  std::size_t first_line_ = 0;  ///< of the message
};

}  // namespace

std::unique_ptr<Document> read_gettext(std::string text, const std::string& where) {
  return GettextReader(std::move(text), where).run();
}

}  // namespace tril::document
