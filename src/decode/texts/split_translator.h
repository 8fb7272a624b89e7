// Translates texts of any length: splits each into segments that fit the model (unicode/segments.h), translates these, and
// joins the translations with the white space of the text.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "decode/texts/translator.h"
#include "unicode/segments.h"

namespace tril::search {

/// How texts are split.
struct SplitOptions {
  Split split = Split::sentences;
  /// Codes of ISO 639 or BCP 47, for the ends of sentences and for the blanks between translations; "": not known.
  std::string source_language = {}, target_language = {};
};

/// Options for segments_of() and for the sentences of documents: each segment fits the model's positions with its frame and tag,
/// unless Split::none. If not even an empty text fits, the model refuses every text, and nothing is cut.
/// @param split, model, options  must outlive the result
/// @param tag  before each segment: Languages::prefix
SegmentOptions segments_that_fit(const SplitOptions& split, std::string_view tag, const TranslationText& model,
                                 const TextOptions& options);

/// A text translated in segments.
struct SplitTranslation {
  struct Part {
    std::string source;
    std::vector<Translation> translations;  ///< best first
  };
  std::vector<Part> parts;  ///< the translated segments; none for white space
  std::string text;         ///< the best translations with the white space between them
  bool cancelled = false;   ///< the search of a segment was stopped: the text is not complete
};

class SplitTranslator {
 public:
  /// The translator must outlive it.
  SplitTranslator(Translator& translator, SplitOptions options)
      : translator_(&translator), options_(std::move(options)) {}

  /// @param tag    before each segment: Languages::prefix. If it is empty, the tag that a text begins with is put
  ///               before all its segments
  /// @param first  the number of the first text among all. A segment's samples depend on the number of its text, and
  ///               on its place in it: those of the first segment are those of the text, if it is not split
  std::vector<SplitTranslation> translate(std::span<const std::string> texts, const std::string& tag,
                                          std::uint64_t first, const TranslationWatch& watch = {});

 private:
  Translator* translator_;
  SplitOptions options_;
};

}  // namespace tril::search
