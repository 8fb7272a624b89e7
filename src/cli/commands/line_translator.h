// Translates the lines of `tril translate`, whole or split, and formats what it prints: a line, n-best lines or a JSON object for
// each.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "cli/commands/translated_lines.h"
#include "cli/options/line_sources.h"
#include "decode/models/alignment_fields.h"
#include "decode/models/target_language.h"
#include "decode/texts/split_translator.h"
#include "decode/texts/translator.h"
#include "terms/translation_memory.h"
#include "tokenizer/files/language_tag.h"

namespace tril::cli {

/// The languages of the lines, and the requirement on lines if none is given.
struct LineLanguages {
  Languages given;
  TargetLanguage target;
  std::shared_ptr<LineSources> sources = nullptr;  ///< for --source-language auto
};

/// The parts that are printed for a line.
struct LineForm {
  bool json = false;
  std::int64_t n_best = 1;
  bool terms = false;  ///< JSON lists the terms, and those that are missing
  std::shared_ptr<const terms::TranslationMemory> memory = nullptr;  ///< JSON lists its hits
  AlignmentOptions alignment;
  search::SplitOptions split;
};

/// Formats the output for lines of text, window by window.
class LineTranslator {
 public:
  /// The languages and the translator must outlive it.
  LineTranslator(LineForm form, const LineLanguages& languages, search::Translator& translator, std::stop_token stop);

  /// @param first  the number of the first line in the whole text, from 0
  std::string translate(const std::vector<std::string>& texts, const std::vector<std::string>& prefixes,
                        std::int64_t first);
  /// The translations of each text as a whole, best first; those of a text whose search was stopped are cancelled.
  /// @param first  as above
  std::vector<std::vector<search::Translation>> translate_texts(const std::vector<std::string>& texts,
                                                                const std::vector<std::string>& prefixes,
                                                                std::int64_t first);
  /// Likewise, in parts as the form's `split` says.
  std::vector<search::SplitTranslation> translate_in_parts(const std::vector<std::string>& texts, std::int64_t first);
  /// The texts that follow come after these, which an earlier run has translated.
  void continue_after(const std::vector<std::string>& texts) { translator_.continue_after(texts); }
  /// Replaces what stops the searches that follow.
  void stop_by(std::stop_token stop) { stop_ = std::move(stop); }
  /// The best translation of each text as a whole; fewer if the search was stopped. @param first  as above
  std::vector<search::Translation> best(const std::vector<std::string>& texts, std::int64_t first);
  const LineTally& tally() const { return tally_; }
  /// Lines so far, except those whose search was stopped.
  std::int64_t lines() const { return lines_; }

 private:
  std::string translate_whole(const std::vector<std::string>& texts, const std::vector<std::string>& prefixes,
                              std::int64_t first);
  std::string translate_split(const std::vector<std::string>& texts, std::int64_t first);
  std::string json_line(std::int64_t number, const std::string& source,
                        const std::vector<search::Translation>& list) const;
  std::string json_line(std::int64_t number, const std::string& source, const search::SplitTranslation& t) const;
  const Tokenizer& tokenizer() const { return translator_.text().tokenizer(); }

  LineForm form_;
  const LineLanguages& languages_;
  search::Translator& translator_;
  search::SplitTranslator split_;
  std::stop_token stop_;
  LineTally tally_;
  std::int64_t lines_ = 0;
};

}  // namespace tril::cli
