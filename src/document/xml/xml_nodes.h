// The nodes of an XML file in document order, each with its bytes, so that a reader can replace some and keep the others.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "document/segments/segment.h"
#include "format/xml_file.h"

namespace tril::document {

/// The namespaces that readers know, under any prefix that a file gives them. Those of OOXML exist in two forms
/// (transitional, strict).
enum class Vocabulary : std::uint8_t {
  other,
  word,             ///< WordprocessingML (ECMA-376 part 1, 17)
  drawing,          ///< DrawingML (ECMA-376 part 1, 20 and 21)
  sheet,            ///< SpreadsheetML (ECMA-376 part 1, 18)
  odf_text,         ///< OpenDocument 1.3 part 3
  odf_table,        ///< the same, tables
  odf_office,       ///< the same, the document itself
  ncx,              ///< EPUB 2's table of contents
  dublin_core,      ///< titles, in EPUB's package file
  opf,              ///< EPUB's package file
  container,        ///< EPUB's file that names the package file
  content_types,    ///< the types of an OOXML package's members (ECMA-376 part 2)
  core_properties,  ///< properties of an OOXML document (the same, 11)
  odf_meta,         ///< OpenDocument's properties of a document
  odf_svg,          ///< titles and descriptions of OpenDocument's pictures
  vml               ///< the older drawings of WordprocessingML (ECMA-376 part 4)
};

struct XmlNode {
  enum Kind : std::uint8_t {
    element,
    text,   ///< between tags
    cdata,  ///< a CDATA section
    other   ///< a comment or a processing instruction
  };
  Kind kind = other;
  Vocabulary space = Vocabulary::other;  ///< of an element
  Range at;                              ///< all bytes
  Range inside;                          ///< between the tags; of text and CDATA its characters
  std::size_t next = 0;                  ///< the number of the first node behind this one and all nodes in it
  pugi::xml_node tag = {};               ///< for its name and attributes, which are as in the file, not unescaped
};

class XmlNodes {
 public:
  /// @param bytes  UTF-8; must outlive the object
  /// @throws Error if the file is not well-formed (xml_file.h, well_formed.h), or a prefix is not declared
  XmlNodes(std::string_view bytes, const std::string& where);

  /// The root element and everything in it.
  std::size_t size() const { return nodes_.size(); }
  const XmlNode& operator[](std::size_t node) const { return nodes_[node]; }
  std::string_view bytes() const { return bytes_; }

  bool is(std::size_t node, Vocabulary space, std::string_view name) const {
    return nodes_[node].kind == XmlNode::element && nodes_[node].space == space && name == local(node);
  }
  /// "t" of an element <w:t>
  std::string_view local(std::size_t node) const { return local_name(nodes_[node].tag.name()); }
  /// "w:" of an element <w:t>
  std::string prefix(std::size_t node) const;
  /// The first child element of this name; 0: none.
  std::size_t child(std::size_t node, std::string_view local) const;
  /// An attribute by its name without prefix, unescaped; "" if there is none.
  std::string attribute(std::size_t node, std::string_view local) const;
  /// All text in a node, unescaped.
  std::string text(std::size_t node) const;

 private:
  using Prefixes = std::map<std::string_view, std::vector<Vocabulary>>;  ///< innermost last
  void add(pugi::xml_node from, std::size_t& at, Prefixes& prefixes, const std::string& where);

  std::string_view bytes_;
  pugi::xml_document file_;
  bool has_doctype_ = false;  ///< which may declare entities in another file; so their names are not checked
  std::vector<XmlNode> nodes_;
};

}  // namespace tril::document
