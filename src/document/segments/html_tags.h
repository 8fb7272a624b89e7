// The tags of HTML text, found without building a tree: in one pass, at any depth of nesting.
//
// A library that builds the tree of the standard (gumbo 0.10) takes time quadratic in the depth of nesting: minutes for
// 100,000 nested elements, which are half a megabyte. To replace texts, only their places are needed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "document/segments/segment.h"

namespace tril::document {

struct HtmlTag {
  std::string name;      ///< in lower case; empty: a comment, a declaration or a processing instruction
  bool closing = false;  ///< </b>
  bool alone = false;    ///< <br/>
  bool kept = false;     ///< translate="no" or class="notranslate"
  std::size_t size = 0;  ///< in bytes
};

class HtmlTags {
 public:
  /// @param html  must outlive the object; below 4 GiB
  explicit HtmlTags(std::string_view html);

  /// The tag at a byte, if there is one. An unclosed tag is text.
  std::optional<HtmlTag> at(std::size_t begin) const;
  /// The bytes of the element that an opening tag at byte `begin` begins: to its end tag or, without one, to the end of the text.
  Range element(std::size_t begin, const HtmlTag& first) const;
  /// The text between the tags of such an element, with references replaced, without tags.
  std::string text_of(Range element) const;

 private:
  std::string_view html_;
  std::vector<std::uint32_t> unquoted_;  ///< for each byte outside of quotes, the next '>' that is not in quotes
};

/// Elements within a sentence: <b>, <a>, <span>, and <g0>, as tools for translators number the tags of a segment.
bool is_inline_element(std::string_view name);
/// Elements within a sentence whose text is not language: <code>, <kbd>.
bool is_code_element(std::string_view name);
/// Elements without an end tag: <br>, <img>.
bool is_void_element(std::string_view name);

}  // namespace tril::document
