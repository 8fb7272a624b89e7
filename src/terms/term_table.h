// The content of a glossary file, before a language pair is chosen: concepts with their phrases in some languages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "terms/term.h"

namespace tril::terms {

/// Whether a phrase is used as a translation, as terminologists state it.
enum class Standing : std::uint8_t { preferred, usual, forbidden };

/// A phrase of a concept in one language.
struct Phrase {
  std::size_t language = 0;  ///< of TermTable::languages
  std::string text;
  Standing standing = Standing::usual;
};

/// Phrases that mean the same.
struct Concept {
  std::int64_t line = 0;  ///< where it is in the file, from 1
  std::vector<Phrase> phrases;
  std::optional<Match> match = std::nullopt;  ///< Entry::match
};

struct TermTable {
  std::string name;                    ///< of the file, for messages
  std::vector<std::string> languages;  ///< as the file writes their codes; two "" if it states none: source and target
  std::vector<Concept> concepts;
  bool has_homonyms = false;  ///< one phrase may belong to several concepts, as in TBX
};

/// The forms of glossary files.
enum class TableFormat : std::uint8_t { tsv, csv, tbx };

/// By the end of a file's name: .tsv, .tab and .txt; .csv; .tbx. @throws Error(usage) for another one
TableFormat table_format(const std::string& path);

/// DeepL's form has neither headers nor comments.
struct TableOptions {
  bool header = true;    ///< of TSV and CSV: the first row may be a header
  bool comments = true;  ///< of TSV: lines that begin with # are comments
};

/// Reads a glossary.
///
/// TSV and CSV: a row for each entry. Two columns are source and target, in DeepL's CSV with two more for their languages. With a
/// header, columns are named by their languages ("en", "pt-BR"; any number), "source" and "target", "match" (exact, case or stem,
/// for this entry) or "note" (not read). A first row is a header if all its cells are such names.
/// TBX: version 2 (martif) and version 3 (tbx), in both of its styles, DCA and DCT. Languages, phrases and their administrative
/// status are read, all other data categories are not needed. An unknown status is refused.
/// @param where  the file's name in errors
/// @throws Error with the line: bytes that are not UTF-8, an empty or too long phrase, a wrong number of columns
TermTable read_term_table(std::string_view bytes, TableFormat format, const std::string& where,
                          const TableOptions& options = {});
TermTable read_term_table(const std::string& path);

/// Maximum size of a glossary file in bytes, and number of its phrases.
inline constexpr std::uint64_t most_glossary_bytes = std::uint64_t{256} << 20;
inline constexpr std::size_t most_phrases = 2'000'000;

}  // namespace tril::terms
