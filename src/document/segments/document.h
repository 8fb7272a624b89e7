// Documents: files whose texts are translated while everything else in them stays as it is, byte for byte.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "document/segments/segment.h"

namespace tril::document {

/// What a reader may need besides the bytes.
struct DocumentOptions {
  std::string where;  ///< names the document in errors
  /// Of the document and its translation, in any form (language/code.h); "": not known.
  std::string source_language = {}, target_language = {};
  std::vector<std::string> columns = {};  ///< of a table: the columns to translate, by number or header
  std::string separator = {};             ///< of a table: one byte between cells; "": detected
};

class Document {
 public:
  virtual ~Document() = default;

  /// The texts to translate, in the order of the document.
  const std::vector<Segment>& segments() const { return segments_; }
  /// The bytes of the file with translations in place of its texts. An unchanged segment keeps its bytes.
  /// @param translated  one for each segment (sentences.h)
  virtual std::string write(std::span<const Segment> translated) const = 0;

 protected:
  std::vector<Segment> segments_;
};

struct Slot;

/// Escapes the text of a slot for its file.
using Escape = std::string (*)(std::string_view text, const Slot& slot);

/// The place of a segment in a file, and how the file spells characters in it.
struct Slot {
  Range at;                           ///< of the file's bytes
  std::optional<Range> without = {};  ///< bytes before it that a translation leaves out
  bool always = false;      ///< a translation that equals its source is written too: its place is elsewhere in the file
  Escape escape = nullptr;  ///< null: the text is written as it is
  /// The character references and escapes that the segment has: "\u00e4" -> "&auml;"
  std::map<std::string, std::string> spelling = {};
  /// What the file has for the rendered segment, such as the text in quotes; empty: the segment itself.
  std::function<std::string(std::string rendered)> finish = {};
};

/// Writes one character for the file. @param rest  the text from this character on
using WriteCharacter = std::function<std::string(std::string_view character, std::string_view rest)>;

/// The text with each character as the file spells it in this slot, or else as `write` writes it.
std::string escape_each(std::string_view text, const Slot& slot, const WriteCharacter& write);

/// A text file. Everything outside of its slots is kept.
class TextDocument final : public Document {
 public:
  explicit TextDocument(std::string bytes) : bytes_(std::move(bytes)) {}

  const std::string& bytes() const { return bytes_; }
  /// Slots are added in the order of the file and do not overlap.
  void add(Slot slot, Segment segment);
  /// Replaces bytes outside of all slots in every translation, such as the code of a language. Places are added in the
  /// order of the file.
  void replace(Range at, std::string bytes);
  std::string write(std::span<const Segment> translated) const override;

 private:
  void copy(Range at, std::string& out) const;

  std::string bytes_;
  std::vector<Slot> slots_;
  std::vector<std::pair<Range, std::string>> replaced_;
};

/// Checks that a text file is UTF-8, with or without a byte order mark. @param where  names the file in errors
/// @throws Error naming the first byte that is not UTF-8, or the encoding of the file
void check_encoding(std::string_view bytes, const std::string& where);

}  // namespace tril::document
