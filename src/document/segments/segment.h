// Segments: the texts of a document that are translated, each with its marks, such as tags around words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace tril::document {

/// Bytes of a text.
struct Range {
  std::size_t begin = 0, end = 0;

  std::size_t size() const { return end - begin; }
  bool empty() const { return begin == end; }
  bool contains(const Range& r) const { return begin <= r.begin && r.end <= end; }
  friend bool operator==(const Range&, const Range&) = default;
};

enum class MarkKind : std::uint8_t {
  pair,   ///< around words: <b>...</b>; may be empty
  point,  ///< between words: <img>; its range is empty
  fixed,  ///< words that are not translated: `%s`, <code>ls</code>; the file has `open` in their place
};

/// An inline mark. A segment's marks form trees: a mark lies within its parent, and siblings do not overlap.
struct Mark {
  MarkKind kind = MarkKind::pair;
  Range at;                  ///< of the segment's text
  std::string open, close;   ///< bytes of the file; of a point and of fixed words `close` directly follows `open`
  std::int32_t parent = -1;  ///< number of the innermost pair around it; -1: none. Parents come before their children
  bool variable = false;     ///< of fixed words: a program replaces them, so no surplus copy may remain
  bool before_word = false;  ///< of a point: it belongs to a word, and stands before it, as in "&File"
  /// Of a point that ends a range, such as a comment's: the point that begins it, and must stand before it. -1: none
  std::int32_t begin = -1;
};

/// A text to be translated: a paragraph, a heading, a cell.
struct Segment {
  std::string text;         ///< UTF-8, with character references and escapes replaced by their characters
  std::vector<Mark> marks;  ///< in the order of their beginnings
  /// The bytes of the file for each '\n' in `text`, in order: line ends with the white space around them. A reader that keeps
  /// line ends as they are leaves this empty.
  std::vector<std::string> breaks;
  bool keeps_breaks =
      false;  ///< each break occurs in the translation, even where it has no space: breaks divide subtitles

  friend bool operator==(const Segment& a, const Segment& b);
};

/// The bytes of a file for a segment: its text, escaped, with its marks and line breaks.
std::string rendered(const Segment& segment, const std::function<std::string(std::string_view text)>& escape);

/// The numbers of the marks in the order in which rendered() writes their beginnings.
std::vector<std::size_t> marks_as_written(const Segment& segment);

/// Bytes of the longest fixed words. A model would lose longer ones: they are points, or end the segment.
inline constexpr std::size_t longest_fixed_words = 200;
/// Marks that are nested deeper than this are not read as marks.
inline constexpr std::size_t most_nested_marks = 48;
/// Maximum number of marks in one segment.
inline constexpr std::size_t most_marks = 400;

}  // namespace tril::document
