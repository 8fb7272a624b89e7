#include "document/markup/latex_commands.h"

#include <algorithm>
#include <array>
#include <utility>

namespace tril::document {
namespace {

using Names = std::string_view;  // between blanks, with one at each end

constexpr Names pair_commands =
    " emph textbf textit textsl textsc textsf textrm textup textmd textnormal underline uline mbox enquote alert text "
    "hl so textsuperscript textsubscript hyperref ";
constexpr Names pair_commands_after_one = " href textcolor colorbox foreignlanguage ";
constexpr Names block_commands =
    " part chapter section subsection subsubsection paragraph subparagraph caption footnote footnotetext marginpar "
    "frametitle framesubtitle title subtitle abstract ";
constexpr Names fixed_commands =
    " cite citep citet citeauthor citeyear parencite textcite autocite footcite nocite ref eqref pageref autoref cref "
    "Cref nameref vref url nolinkurl texttt gls Gls ac ";
constexpr Names boundary_commands =
    " item newpage clearpage cleardoublepage pagebreak newline linebreak par hline toprule midrule bottomrule "
    "maketitle "
    "tableofcontents centering appendix bigskip medskip smallskip ";
constexpr Names line_commands =
    " vskip hskip kern def edef gdef xdef let catcode input include setlength newcommand renewcommand "
    "providecommand newenvironment ";
constexpr Names text_environments =
    " document abstract itemize enumerate description quote quotation verse center flushleft flushright figure table "
    "sidewaysfigure sidewaystable columns landscape theorem lemma proof definition corollary remark example "
    "proposition claim note titlepage appendices small footnotesize large ";
constexpr Names environments_of_one = " minipage tabular longtable column multicols spacing ";
constexpr Names environments_of_two = " wrapfigure tabularx ";
constexpr Names titled_environments = " frame block exampleblock alertblock ";

bool lists(Names names, std::string_view name) {
  if (name.empty() || name.find(' ') != name.npos)
    return false;  // a file's name may be anything, which is none of the list
  for (std::size_t place = names.find(name); place != Names::npos; place = names.find(name, place + 1))
    if (names[place - 1] == ' ' && names[place + name.size()] == ' ') return true;
  return false;
}

struct Accent {
  std::string_view accent, bases, characters;  // one letter, and one character of two bytes, after the other
};
constexpr std::array<Accent, 9> latex_accents{{{"\"", "aeiouyAEIOU", "äëïöüÿÄËÏÖÜ"},
                                               {"'", "aeiouyAEIOUYcnsz", "áéíóúýÁÉÍÓÚÝćńśź"},
                                               {"`", "aeiouAEIOU", "àèìòùÀÈÌÒÙ"},
                                               {"^", "aeiouAEIOU", "âêîôûÂÊÎÔÛ"},
                                               {"~", "anoANO", "ãñõÃÑÕ"},
                                               {"c", "cCsS", "çÇşŞ"},
                                               {"v", "cCsSzZeErR", "čČšŠžŽěĚřŘ"},
                                               {"r", "aAuU", "åÅůŮ"},
                                               {"H", "oOuU", "őŐűŰ"}}};
constexpr std::array<std::pair<std::string_view, std::string_view>, 15> latex_symbols{{{"ss", "ß"},
                                                                                       {"ae", "æ"},
                                                                                       {"AE", "Æ"},
                                                                                       {"oe", "œ"},
                                                                                       {"OE", "Œ"},
                                                                                       {"o", "ø"},
                                                                                       {"O", "Ø"},
                                                                                       {"aa", "å"},
                                                                                       {"AA", "Å"},
                                                                                       {"l", "ł"},
                                                                                       {"L", "Ł"},
                                                                                       {"ldots", "…"},
                                                                                       {"dots", "…"},
                                                                                       {"textbackslash", "\\"},
                                                                                       {"S", "§"}}};

}  // namespace

LatexCommand latex_command(std::string_view name) {
  if (lists(pair_commands, name)) return {LatexRole::pair, 0};
  if (lists(pair_commands_after_one, name)) return {LatexRole::pair, 1};
  if (lists(block_commands, name)) return {LatexRole::block, 0};
  if (name == "multicolumn" || name == "multirow") return {LatexRole::block, 2};
  if (lists(fixed_commands, name)) return {LatexRole::fixed, 0};
  if (lists(boundary_commands, name)) return {LatexRole::boundary, 0};
  if (lists(line_commands, name)) return {LatexRole::line, 0};
  return {};
}

std::optional<LatexText> latex_text(std::string_view environment) {
  if (lists(text_environments, environment)) return LatexText{};
  if (lists(environments_of_one, environment)) return LatexText{.arguments = 1};
  if (lists(environments_of_two, environment)) return LatexText{.arguments = 2};
  if (lists(titled_environments, environment)) return LatexText{.has_title = true};
  return std::nullopt;
}

std::optional<std::string_view> latex_accent(std::string_view accent, std::string_view base) {
  for (const Accent& a : latex_accents) {
    const std::size_t at = a.accent == accent && base.size() == 1 ? a.bases.find(base) : std::string_view::npos;
    if (at != std::string_view::npos) return a.characters.substr(2 * at, 2);
  }
  return std::nullopt;
}

std::optional<std::string_view> latex_symbol(std::string_view name) {
  for (const auto& [symbol, character] : latex_symbols)
    if (symbol == name) return character;
  return std::nullopt;
}

}  // namespace tril::document
