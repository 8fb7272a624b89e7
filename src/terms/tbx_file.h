// TermBase eXchange (ISO 30042): version 2 of 2008 (<martif>) and version 3 of 2019 (<tbx>), in the styles DCA and DCT.
#pragma once

#include <string>
#include <string_view>

#include "terms/term_table.h"

namespace tril::terms {

/// Reads the concepts of a TBX file. Elements, by version 2 and 3:
///   termEntry, conceptEntry          a concept
///   langSet, langSec (xml:lang)      its phrases in one language
///   tig or ntig/termGrp, termSec     a phrase: <term>, whose markup is left out
///   administrativeStatus             <termNote type="administrativeStatus"> (DCA), <min:administrativeStatus> (DCT), and
///                                    normativeAuthorization of version 2, likewise
/// A phrase is preferred (preferredTerm), forbidden as a translation (deprecatedTerm, supersededTerm) or neither (admittedTerm,
/// and legalTerm, regulatedTerm, standardizedTerm; without a status), each also with -admn-sts behind it. All other data categories
/// are not needed.
/// @throws Error with the line: XML that xml_file.h refuses, another root, style or status, a concept without a term
TermTable read_tbx(std::string_view bytes, const std::string& where);

}  // namespace tril::terms
