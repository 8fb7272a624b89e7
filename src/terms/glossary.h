// Glossaries: the entries of one language pair.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "terms/term.h"
#include "terms/term_table.h"

namespace tril::terms {

/// The languages of a translation, by their codes in any form; "": not known.
struct LanguagePair {
  std::string source, target;
};
/// True if a glossary or a memory of one pair serves a translation of another: the languages fit (language_distance()). An unknown
/// code fits any.
bool serves(const LanguagePair& have, const LanguagePair& wanted);

struct Glossary {
  std::string name;  ///< of its file or of the server's list, for messages
  LanguagePair languages;
  std::vector<Entry> entries;  ///< each source phrase once
  /// Notes for its author, in full sentences: entries that are left out, with their lines.
  std::vector<std::string> notes;
};

/// The entries of a table for a pair. All phrases of a concept in the source language, also forbidden ones, get its preferred phrase
/// in the target language, or else the first that is not forbidden. Equal entries are merged. A phrase with different translations
/// is an error in TSV and CSV; in TBX it is a homonym, which is left out. `notes` names the entries that are left out.
/// @param pair  a language that is not known may be "" if the table has two languages: they are source and target in their order
/// @throws Error(usage) at the table's name if it does not have a language of the pair; Error with both lines for a contradiction
Glossary glossary_of(const TermTable& table, const LanguagePair& pair);

/// One list of the entries of several glossaries. If they contradict each other, the first one takes precedence.
/// @param left_out  the number of contradicting entries
std::vector<Entry> merged_entries(std::span<const Glossary* const> glossaries, std::size_t& left_out);

}  // namespace tril::terms
