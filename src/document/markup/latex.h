// LaTeX: the paragraphs, headings, captions, items and cells of a document's body.
#pragma once

#include <memory>
#include <string>

#include "document/segments/document.h"

namespace tril::document {

/// Text in known environments and in the arguments of known commands is translated. Formulas, code, citations and references are
/// fixed words; commands such as \emph are marks. The preamble, comments, unknown environments (equations, code,
/// drawings, bibliographies) and the arguments of unknown commands are kept. Accents, dashes and quotes are read as
/// characters.
std::unique_ptr<Document> read_latex(std::string bytes);

}  // namespace tril::document
