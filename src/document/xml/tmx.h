// TMX, the exchange format of translation memories: as a memory, and as a document whose units lack a language.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "document/segments/document.h"

namespace tril::document {

/// A text and its translation, without inline codes.
struct MemoryUnit {
  std::string source, target;
};

/// The units of a memory that have both languages, in the order of the file. Texts without words are left out.
/// @param options  `where` names the file in errors; both languages are required. Regions may differ (de, de-AT)
/// @throws Error if it is not TMX
std::vector<MemoryUnit> read_tmx_memory(std::string_view bytes, const DocumentOptions& options);

/// Each unit (<tu>) without a text in the target language gets one: a <tuv> after the others. Existing texts are kept.
/// The source language is that of the options, else the file's `srclang`. Inline codes are marks.
/// @throws Error if it is not TMX, the target language is not known, or no unit has a text in the source language
std::unique_ptr<Document> read_tmx(std::string bytes, const DocumentOptions& options);

}  // namespace tril::document
