// The terms and the translation memory of a request: the fields `terminology`, `glossary` and `memory`, and the terms and hits in the
// answer.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "decode/texts/translation_text.h"
#include "serve/api/service.h"
#include "serve/api/translate_request.h"
#include "terms/translation_memory.h"

namespace tril::serve {

/// The client whose uploaded glossaries a call may use.
terms::Viewer viewer_of(const Call& call);
TermSources term_sources(const Service& service, const Call& call);

/// The terms of `terminology`, followed by those of `glossary`; null if there are none.
/// @param pair  the languages of the translation; "": not known
/// @throws HttpError (400), or Error(usage) as GlossaryLibrary::matcher()
std::shared_ptr<const search::Terminology> requested_terms(const TranslateRequest& request, const Json& body,
                                                           const terms::LanguagePair& pair);

/// The memory that `memory` names; null if it is absent. @throws HttpError (400) for an unknown one, or one of other languages
std::shared_ptr<const terms::TranslationMemory> requested_memory(const TranslateRequest& request,
                                                                 const terms::LanguagePair& pair);

/// Adds a sentence's terms: {"source", "target", "applied"}.
void add_terms(const search::Translation& translation, Json& list);
/// Adds a sentence's hits: {"text", "source", "target", "score"}.
void add_hits(const terms::TranslationMemory& memory, const std::string& sentence, Json& list);

}  // namespace tril::serve
