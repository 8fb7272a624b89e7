// Splits a text into segments: what a model translates one by one, and the white space between them, which stays. The
// segments, joined, are the text, byte for byte.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tril {

/// How a text is split.
enum class Split : std::uint8_t {
  none,      ///< not at all: the text is one segment, however long
  lines,     ///< at line ends (\n)
  sentences  ///< at line ends, and at the ends of sentences (sentences.h)
};

inline constexpr std::array<std::pair<std::string_view, Split>, 3> split_names{
    {{"none", Split::none}, {"lines", Split::lines}, {"sentences", Split::sentences}}};

/// A part of a text.
struct Segment {
  std::string_view text;    ///< a view into the text, not empty
  bool translated = false;  ///< false: white space, which stays
  /// The next segment follows without white space, as sentences do in Chinese. A translation into a language with
  /// spaces needs a blank here.
  bool blank_after = false;
};

struct SegmentOptions {
  Split split = Split::sentences;
  /// Of the text, as sentence_end() takes it; "": not known.
  std::string_view language = {};
  /// Line ends are white space, as in HTML: only sentences are split. Not for Split::none.
  bool one_paragraph = false;
  /// The length of a segment in tokens, as the model counts it. It is called with parts of the text.
  std::function<std::int64_t(std::string_view)> tokens = {};
  /// A longer segment is cut: after a semicolon or colon or before a dash, after a comma, at white space, between
  /// words, between graphemes. 0: nothing is cut. Nothing is cut for Split::none.
  std::int64_t max_tokens = 0;
};

/// The segments of a text. Time grows linearly with the text, if tokens() is linear. Each translated segment has at most
/// max_tokens tokens, unless a single character has more. Invalid UTF-8 is kept.
std::vector<Segment> segments_of(std::string_view text, const SegmentOptions& options);

/// Whether a translation is written with spaces between sentences. Chinese and Japanese are not.
/// @param language  of the translation: ISO 639 or BCP 47; "": decided by the text
bool has_spaces_between_sentences(std::string_view language, std::string_view translation);

/// The white space of a text as it stands between two translations.
/// @param spaces  of has_spaces_between_sentences(), for the translation before it. If false, blanks are left out; tabs
///                and line ends stay
std::string_view gap_between_translations(std::string_view gap, bool spaces);

/// The text with each translated segment replaced by its translation.
/// @param translations  of the translated segments, in their order
/// @param language      as for has_spaces_between_sentences()
/// @throws Error(usage) if the number of translations differs from that of translated segments
std::string join_translations(const std::vector<Segment>& segments, const std::vector<std::string>& translations,
                              std::string_view language);

}  // namespace tril
