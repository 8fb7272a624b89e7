// The content of the paragraphs of each format, for paragraph_builder.h.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "document/office/odf_styles.h"
#include "document/office/paragraph_builder.h"
#include "document/xml/xml_nodes.h"

namespace tril::document {

struct ParagraphContent {
  Paragraph paragraph = {};
  std::vector<Inline> inlines = {};
  std::vector<std::size_t> others = {};  ///< nodes that stay, in which there may be further paragraphs
};

/// <w:p> of WordprocessingML. Deleted text and the codes of fields are kept. The result of a field is fixed words, that
/// of a hyperlink is text. Marks of the spelling checker and of earlier page breaks are left out.
ParagraphContent word_paragraph(const XmlNodes& nodes, std::size_t paragraph);
/// <a:p> of DrawingML.
ParagraphContent drawing_paragraph(const XmlNodes& nodes, std::size_t paragraph);
/// <si>, <is> or a comment's <text> of SpreadsheetML. A line end of a cell divides it. Phonetic guides are left out.
ParagraphContent sheet_string(const XmlNodes& nodes, std::size_t item);
/// <text:p> or <text:h> of OpenDocument. A <text:span> of a style that has no pair or range in it is a run.
ParagraphContent odf_paragraph(const XmlNodes& nodes, const OdfStyles& styles, std::size_t paragraph);
/// An element that has only text, such as a title.
ParagraphContent plain_element(const XmlNodes& nodes, std::size_t element);

/// The value of an attribute, such as the alternative text of a picture. Each of its lines is a segment. Nothing if the
/// element lacks the attribute, or if its value is the name of a file.
std::optional<ParagraphContent> attribute_paragraph(const XmlNodes& nodes, std::size_t element, std::string_view name);

/// Nodes of the largest field, or element of OpenDocument, that is read as fixed words. Larger ones are text and points, so that
/// nested ones take linear time.
inline constexpr std::size_t most_field_parts = 2000;

/// The properties of a paragraph's runs. Those that look the same are one.
class RunProperties {
 public:
  explicit RunProperties(Paragraph& paragraph) : paragraph_(paragraph) {}
  /// @param key  what is equal for properties that look the same
  std::size_t number(Range raw, std::string key);

 private:
  Paragraph& paragraph_;
  std::map<std::string, std::size_t> numbers_;  ///< by key
};

/// A text with a boundary at each mark that divides it. @param size_of_mark  bytes of a mark at the start of a text; 0: none
std::vector<Inline> divided_text(std::string_view words, std::size_t properties,
                                 std::size_t (*size_of_mark)(std::string_view));
/// A text of WordprocessingML or DrawingML. A tab is a boundary, unless the text is laid out in lines, where white
/// space is a space.
std::vector<Inline> tabbed_text(std::string_view words, std::size_t properties);

/// Makes pairs of tags that need not be nested, such as the two ends of a bookmark. Ends without a counterpart, and those that cross
/// others, become points; the two ends of a range that crosses others keep their order. @param names  for each inline: "" or its name, the same for both ends
void match_ranges(std::vector<Inline>& inlines, const std::vector<std::string>& names);

}  // namespace tril::document
