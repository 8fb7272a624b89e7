// An XML file whose paragraphs are translated. Everything outside of changed paragraphs is kept byte for byte.
//
// OOXML wraps all text in runs, <w:r><w:rPr>...</w:rPr><w:t>text</w:t></w:r>, which cannot be nested. So the marks of a segment do
// not hold bytes of the file, but codes: characters that XML does not allow in a text. A writer turns text and codes into runs.
#pragma once

#include <string>
#include <vector>

#include "document/segments/document.h"

namespace tril::document {

/// How a paragraph wraps its text.
struct RunNames {
  std::string run;   ///< "w:r"; "": the text has no runs
  std::string text;  ///< "w:t"; "": the text stands directly in the paragraph
  bool says_space =
      true;  ///< the text's element says xml:space="preserve" if its first or last character is white space
  bool tagged_by_properties = false;  ///< the properties are the run's start tag; text without properties is in no run
  friend bool operator==(const RunNames&, const RunNames&) = default;
};

// Codes. A context is a run's properties: text that follows gets them, until the next code changes them.

/// The text that follows has these properties. @param number  in Paragraph::properties
std::string properties_code(std::size_t number);
/// Bytes of the file that stand beside runs: a bookmark, the tag of a hyperlink, a whole run. Paragraphs in them may be translated.
std::string beside_runs_code(Range raw);
/// Bytes of the file that stand within a run: a line break, a drawing.
std::string within_run_code(Range raw);
/// The content of a paragraph: glue[0] segments[0] glue[1] segments[1] ... glue[n].
struct Paragraph {
  Range at = {};  ///< of the file
  RunNames names = {};
  std::vector<Range> properties = {};  ///< the elements of runs' properties, or start tags; empty: without
  std::vector<std::string> glue = {};  ///< codes and escaped text; one more than segments
  char quote = '\0';                   ///< of an attribute's value: the mark around it
};

class XmlPart final : public Document {
 public:
  explicit XmlPart(std::string bytes) : bytes_(std::move(bytes)) {}

  const std::string& bytes() const { return bytes_; }
  /// Paragraphs are added in the order of their beginnings. They lie apart, or one within another's glue or marks.
  void add(Paragraph paragraph, std::vector<Segment> segments);
  std::string write(std::span<const Segment> translated) const override;

 private:
  friend class ParagraphWriter;
  struct Slot {
    Paragraph paragraph;
    std::size_t first;  ///< of its segments
  };
  void write(Range raw, std::span<const Segment> translated, std::string& out) const;
  bool is_changed(const Slot& slot, std::span<const Segment> translated) const;

  std::string bytes_;
  std::vector<Slot> slots_;
};

}  // namespace tril::document
