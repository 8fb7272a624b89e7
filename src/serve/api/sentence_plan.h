// How one model translates the sentences of one request: its text options, its search, its languages. Texts
// (translate_api.cpp) and documents (document_translation.h) are both translated by it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "document/segments/links.h"
#include "serve/api/model_choice.h"
#include "serve/api/translate_request.h"
#include "serve/engine/served_model.h"
#include "serve/engine/work.h"

namespace tril::serve {

struct RequestTerms;

/// A sentence of a request, prepared for the engine.
struct PlannedSentence {
  std::shared_ptr<const search::TextToTranslate> text;
  WorkPtr work;  ///< without callbacks; null: there is nothing to translate
};

class SentencePlan {
 public:
  /// @param body   the request's, for the fields that TranslateRequest does not hold
  /// @param terms  from request_terms()
  /// @throws HttpError, Error(usage) naming a field that the model cannot satisfy
  SentencePlan(ModelPtr model, const ModelChoice& choice, const TranslateRequest& request, const Json& body,
               const RequestTerms& terms);

  /// Settles the search. Call it once, before the first sentence.
  /// @param any_marks  whether sentences have marks, which are placed by the model's alignment: not with a language model, and
  ///                   not through pivots, because the last model does not read the sentences with the marks
  /// @throws Error(usage) if the options contradict each other
  void settle(bool any_marks);

  const ServedModel& model() const { return *model_; }
  const search::TextOptions& text() const { return text_; }
  /// The tag before each sentence, for a model with tags; "" if there is none, or the texts have their own.
  const std::string& tag() const { return tag_; }
  /// The source language by the model's own name; "": unknown.
  const std::string& source_language() const { return source_language_; }
  bool has_links() const { return links_; }

  /// @param input   the sentence with its tag, and its context
  /// @param number  of the sentence in the request
  /// @throws HttpError (400)
  PlannedSentence sentence(search::TextInput input, std::uint64_t number) const;
  /// The translations of a sentence, best first.
  /// @param text     from sentence()
  /// @param outcome  of its work; an empty one for a text without work
  /// @throws HttpError if there is none
  std::vector<search::Translation> translations(const search::TextToTranslate& text, const Outcome& outcome) const;
  /// A translation with its links to the sentence, if has_links().
  /// @param source  the sentence without its tag
  document::Translated linked(const search::Translation& translation, std::string_view source) const;

 private:
  void set_lengths(const SearchOptions& asked);
  void set_languages(const ModelChoice& choice);

  ModelPtr model_;
  search::TextOptions text_;
  search::SearchPlan search_;  ///< moved from by settle()
  std::shared_ptr<const search::SearchPlan> options_;
  std::string tag_, source_language_;
  std::string key_;  ///< of everything in the request that affects the search
  Schedule schedule_;
  std::optional<std::int64_t> min_length_;
  bool aligns_, can_link_, links_ = false;
};

}  // namespace tril::serve
