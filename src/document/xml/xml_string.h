// Strings of programs in XML files. Elements of the file, placeholders, tags that are written as text (&lt;b&gt;), and
// the sign of a shortcut key are marks.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "document/segments/string_tokens.h"
#include "document/xml/xml_text.h"

namespace tril::document {

/// A character that a file writes in some way of its own.
struct FileCharacter {
  enum Kind : std::uint8_t {
    spelled,  ///< a translation writes it in the same way
    plain,    ///< a translation may write it in another way
    quote,    ///< one of two marks around text
    point     ///< it stays as it is
  } kind = spelled;
  std::string text = {};  ///< what it means; of a quote '"'
  std::size_t bytes = 0;  ///< of the file
};
/// The character that the escape at the start of a text stands for; nothing if there is no escape.
using ReadCharacter = std::function<std::optional<FileCharacter>(std::string_view rest)>;

/// A character reference of XML.
std::optional<FileCharacter> reference_at(std::string_view rest);

/// Adds the words and marks of a string to segments.
AddWords string_words(ReadCharacter read, ShortcutKeys shortcuts);

/// An Escape for a CDATA section.
std::string escape_cdata(std::string_view text, const Slot& slot);

/// Strings that only XML escapes. @param role_of  of elements in a string
XmlTextStyle xml_string_style(XmlRoleOf role_of);

/// Adds segments that are translated where they stand.
void add_segments(TextDocument& document, std::vector<SlottedSegment> segments);

}  // namespace tril::document
