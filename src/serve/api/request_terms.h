// The terms and the translation memory of a request: the fields `terminology`, `glossary` and `memory`, and the terms and hits in the
// answer.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "decode/texts/translation_text.h"
#include "serve/api/model_choice.h"
#include "serve/api/service.h"
#include "serve/api/translate_request.h"
#include "terms/translation_memory.h"

namespace tril::serve {

/// The client whose uploaded glossaries a call may use.
terms::Viewer viewer_of(const Call& call);
TermSources term_sources(const Service& service, const Call& call);

/// The terms and the memory of a request, which do not depend on the model.
struct RequestTerms {
  std::shared_ptr<const search::Terminology> terminology;  ///< null: none
  std::shared_ptr<const terms::TranslationMemory> memory;  ///< null: none
};

/// The terms of `terminology`, followed by those of `glossary`; and the memory that `memory` names.
/// @param body    of the request, for `terminology`
/// @param choice  its languages are those of the translation
/// @throws HttpError (400) for an unknown memory, or one of other languages; Error(usage) as GlossaryLibrary::matcher()
RequestTerms request_terms(const TranslateRequest& request, const Json& body, const ModelChoice& choice);

/// Adds a sentence's terms: {"source", "target", "applied"}.
void add_terms(const search::Translation& translation, Json& list);
/// Adds a sentence's hits: {"text", "source", "target", "score", "applied"}.
/// @param recalled  whether the sentence's translation is that of its exact hit
void add_hits(const std::vector<terms::MemoryHit>& hits, const std::string& sentence, bool recalled, Json& list);

}  // namespace tril::serve
