// Builds a segment from the pieces of a file between two boundaries: words, white space, tags and fixed words.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "document/segments/document.h"

namespace tril::document {

/// How line ends within a segment are read.
enum class LineEnds : std::uint8_t {
  break_lines,  ///< a translator reads them as spaces; they are kept as Segment::breaks
  are_text,     ///< they are characters of the text
};

/// Which segments are worth translating.
enum class Worth : std::uint8_t {
  anything,  ///< everything but white space
  letters,   ///< texts with a letter outside of fixed words
};

/// What all segments of a reader have in common.
struct SegmentStyle {
  LineEnds line_ends = LineEnds::break_lines;
  Worth worth = Worth::letters;
  Escape escape = nullptr;  ///< see Slot
};

/// A segment with its place.
struct SlottedSegment {
  Slot slot;
  Segment segment;
};

/// Pieces are added in the order of the file, each with its bytes there.
class SegmentBuilder {
 public:
  /// @param document  gets the segments
  SegmentBuilder(TextDocument& document, const SegmentStyle& style)
      : bytes_(document.bytes()), document_(&document), style_(style) {}
  /// For segments that are only taken. @param bytes  of the file; must outlive the object
  SegmentBuilder(std::string_view bytes, const SegmentStyle& style) : bytes_(bytes), style_(style) {}

  /// Text that the file writes without escapes.
  void plain(Range raw);
  /// A reference or an escape, and the text that it means. @param is_spelling  the file prefers to spell the text this way
  void character(Range raw, std::string_view text, bool is_spelling = true);
  /// The tags of a pair. A tag without its counterpart becomes a point.
  void open(Range raw, std::string_view name);
  /// @param written  its bytes in a translation; "": as they are
  void close(Range raw, std::string_view name, std::string_view written = {});
  void point(Range raw);
  /// Fixed words; blank ones are a point. @param variable  see Mark
  void fixed(Range raw, std::string_view text, bool variable);
  /// The sign of a shortcut key: a point that stands before a word, also at the edge of the segment.
  void shortcut(Range raw);
  /// A line end with the white space around it, as in "\n> " of a quotation.
  void line_break(Range raw);

  /// Ends the segment. White space and points at its edges, and pairs around all of it, are not part of it.
  void end();
  /// Ends the segment and returns it instead of adding it to the document. Nothing if there is nothing to translate.
  std::optional<SlottedSegment> take();

  /// True if the next tag has to end the segment.
  bool is_full() const { return marks_ >= most_marks; }
  bool is_empty() const { return pieces_.empty(); }

 private:
  struct Piece {
    enum Kind : std::uint8_t { blank, word, open, close, point, fixed } kind;
    Range raw;
    std::string text;  ///< of a word, a blank, fixed words; of a tag its name
    bool variable = false, spelled = false, breaks = false, before_word = false;
    std::string written = {};  ///< of a tag its bytes in a translation, if not those of the file
    std::size_t match = 0;     ///< of a tag its counterpart's number + 1; 0: none
    std::size_t begin = 0;     ///< of a tag that became a point: likewise that of Mark::begin
  };

  void add(Piece::Kind kind, Range raw, std::string_view text);
  std::string_view raw_text(Range raw) const { return bytes_.substr(raw.begin, raw.size()); }
  void match_tags();
  Range trimmed() const;  ///< numbers of the pieces that are left
  bool is_worth(Range pieces) const;
  SlottedSegment segment_of(Range pieces) const;

  std::string_view bytes_;
  TextDocument* document_ = nullptr;
  SegmentStyle style_;
  std::vector<Piece> pieces_;
  std::size_t marks_ = 0;
};

}  // namespace tril::document
