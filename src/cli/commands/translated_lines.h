// What happened to the lines that `tril translate` translates, and their form in the output.
#pragma once

#include <cstdint>
#include <string>

#include "decode/texts/translator.h"

namespace tril::cli {

/// `tril translate` warns about lines with at least this many sentences. Lines of two are frequent in texts of single sentences, and
/// mostly translated well.
inline constexpr std::int64_t sentences_of_paragraph = 3;

/// Counts of what happened to the best translations, for warnings at the end.
struct LineTally {
  std::int64_t late = 0, stuck = 0, too_long = 0, at_length = 0;
  std::int64_t terms = 0, unsatisfied = 0;  ///< terms of the lines, and those that are missing
  std::int64_t recalled = 0;                ///< translations from the memory
  std::int64_t surrounded = 0;              ///< answers with other text than reasoning around the translation
  std::int64_t unanswered = 0;              ///< answers that end before the translation begins
  std::int64_t paragraphs = 0;              ///< lines of several sentences that were translated as one

  void add(const search::Translation& best);
};

/// Warns about lines whose translation may be incomplete or altered. @param invalid  lines that are not UTF-8
void warn_of_lines(const search::Translator& translator, const LineTally& tally, const model::Model& model,
                   std::int64_t invalid);

}  // namespace tril::cli
