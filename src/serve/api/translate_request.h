// The request of POST /translate: LibreTranslate's fields and tril's own.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "document/xml/xml_markup.h"
#include "serve/api/request_fields.h"
#include "serve/api/schedule.h"
#include "serve/api/search_fields.h"
#include "serve/api/term_sources.h"

namespace tril::serve {

struct TranslateRequest {
  std::vector<std::string> q;
  std::string model, source, target, format = "text", api_key, split = "sentences", prefix;
  std::string style, memory;
  std::vector<std::string> glossary;
  TermSources term_sources;  ///< for `glossary` and `memory`; set by term_sources()
  terms::Match glossary_match = terms::Match::ignore_case;
  terms::MemoryUse memory_use = terms::MemoryUse::exact;
  document::XmlRules xml;
  std::int64_t alternatives = 0, context = 0;
  Schedule schedule;
  bool scores = false, alignment = false, replace_unknowns = false, stream = false;
  SearchOptions search;

  // Not among the fields of POST /translate.
  bool style_may_be_left_out = false;  ///< by a model that has no place for a style; otherwise it refuses the request
  bool sentence_places =
      false;                 ///< the response has `sentences`, the places of sentences in both texts; for plain texts
  bool word_links = false;   ///< with `links`, the best link of each token of the translation
  std::string context_text;  ///< shown before all texts, by a model that has a place for context; "": none
};

/// Adds `glossary`, `glossary_match`, `memory` and `memory_use`.
void add_term_fields(Fields& f, TranslateRequest& request);

/// Adds the fields that texts and files have in common: languages, key, model, context, style, those of add_term_fields(),
/// `replace_unknowns` and the search options.
void add_common_fields(Fields& f, TranslateRequest& request);

/// The request's fields.
Fields fields_of(TranslateRequest& request);

/// @throws HttpError (400) naming a field with an invalid value; `warnings` receives unknown fields
TranslateRequest read_translate_request(const Json& body, Warnings& warnings);

/// The request's JSON schema.
Json translate_schema();

/// The field "terminology" of a request: {"dog": "Hund"} or [["dog", "Hund"], ...]; null if it has no terms.
/// @throws HttpError (400) for any other form
std::shared_ptr<const terms::TermMatcher> inline_terminology(const Json& body);

/// Refuses what refers to the words of the source in a translation through pivots, whose last model does not read the source.
/// @param pivots  public codes
/// @throws HttpError (400) naming the field
void check_over_pivots(const TranslateRequest& request, const Json& body, const std::vector<std::string>& pivots);

}  // namespace tril::serve
