// Separates the translation in a language model's answer from the text around it. The rules are narrow: each applies only to
// a form that the source text does not have, so a translation that contains such phrases stays whole.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tril::search {

enum class AroundAnswer : std::uint8_t { reasoning, preamble, label, quotes, code_fence, note };

/// "preamble"
std::string_view name_of(AroundAnswer kind);

/// A part that was cut off. Both quotes or fences of a pair are one part.
struct RemovedPart {
  AroundAnswer kind = AroundAnswer::preamble;
  std::string text;
};

struct AnswerParts {
  std::string translation;
  std::vector<RemovedPart> removed;
};

/// The task that an answer belongs to.
struct AnswerTo {
  std::string_view source;         ///< the text to translate
  std::string_view language = {};  ///< the English name of the target language
  bool begun = false;              ///< the beginning of the translation was given, so nothing stands before it
};

/// Cuts these parts, in this order, as long as something is left:
///  - reasoning in <think> and </think> at the beginning
///  - a code fence around all of it, unless the source has one
///  - a preamble that ends with a colon and speaks of a translation ("Sure! Here is the translation:"), unless the source
///    speaks of one too, or has more colons than what follows
///  - a label: the name of the target language and a colon ("German: ..."), unless the source has more colons than what follows
///  - a note: text after a blank line that begins like a note ("Note: ...", "Explanation: ..."), unless the source has a blank
///    line or the same word
///  - quotation marks around all of it, unless the source begins or ends with such a mark
/// and white space at both ends.
AnswerParts translation_in(std::string_view answer, const AnswerTo& to);

}  // namespace tril::search
