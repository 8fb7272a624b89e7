// The parts of a program's string that are not words: placeholders, tags, the sign of a shortcut key. Linear time.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "document/segments/html_tags.h"
#include "document/segments/segment.h"

namespace tril::document {

/// The placeholders of a text: printf's (`%s`, `%1$d`, `%(name)s`), Apple's (`%@`, `%#@files@`, `%arg`), braces (`{name}`,
/// `{0:.2f}`, `{{name}}`, `${name}`, `%{name}`, and whole ICU messages such as `{n, plural, ...}`), Qt's (`%1`, `%L1`, `%n`).
class Placeholders {
 public:
  /// @param text  must outlive the object
  explicit Placeholders(std::string_view text);

  /// The bytes of the placeholder at a byte; 0: there is none.
  std::size_t size_at(std::size_t at) const;

 private:
  std::size_t bracket(std::size_t at, std::size_t most) const;
  std::size_t percent(std::size_t at) const;
  char byte(std::size_t at) const { return at < text_.size() ? text_[at] : '\0'; }

  std::string_view text_;
  std::unordered_map<std::size_t, std::size_t> ends_;  ///< of each "{" and "%(" the end of its counterpart
};

struct StringToken {
  enum Kind : std::uint8_t { words, placeholder, tag, shortcut } kind = words;
  Range at;
  HtmlTag html = {};  ///< of a tag
};

/// Whether a short text may have the sign of a shortcut key: Qt, GTK and Windows have them, Android and Apple do not.
enum class ShortcutKeys : std::uint8_t { possible, none };

/// The tokens of a text, which cover it. A single `&` or `_` before a letter of a short text is a shortcut key's sign.
std::vector<StringToken> string_tokens(std::string_view text, ShortcutKeys shortcuts = ShortcutKeys::possible);

}  // namespace tril::document
