// Chooses the model that translates a request. There is no language detection: if a request does not give its text's
// language, there must be only one possibility.
#pragma once

#include <string>
#include <vector>

#include "serve/api/service.h"
#include "tokenizer/files/language_tag.h"

namespace tril::serve {

/// The request's model and languages; "" is unset, as is a source of "auto", which is invalid as a target. Languages
/// may be given as tags: ">>de<<", "__de__".
struct TranslationWish {
  std::string model, source, target;
};

struct ModelChoice {
  Models::Offer model;
  std::string source, target;  ///< codes as in the request; "": unset
  std::vector<Hop> before;     ///< the way to the source language of `model`, if no model translates directly
  std::string assumed;         ///< the language of the source, if it is not given but known
};

/// The model with that name, or the first that fits, preferring one with known languages. It may not be loaded yet.
/// If no model translates between two given languages, the last model of the shortest path between them (LanguageGraph).
/// @throws HttpError naming the field that leaves an ambiguity (and the choices), or that no model satisfies; 503 while
///   models that may matter are loading
ModelChoice choose_model(const Service& service, const TranslationWish& wish);

/// The languages for scoring or attention, by the same rules: the fields are source_language and target_language, and a
/// missing target defaults to the one that the model's directory forces.
/// @throws HttpError naming the field that is required
Languages requested_languages(const ModelPtr& model, const std::string& source, const std::string& target);

/// The tag before each sentence of a text, for a model with tags: that of the chosen language, or else the tag that the
/// text begins with, which applies to all that follows.
class TagsOfText {
 public:
  /// @param said   the chosen language's tag (Languages::prefix); "": none
  /// @param field  the field that is required if the text has no tag either
  TagsOfText(const ServedModel& model, std::string said, std::string field);
  /// @throws HttpError if nothing determines the target language
  std::string put_before(const std::string& sentence);

 private:
  const ServedModel* model_;
  std::string said_, field_, last_;
};

}  // namespace tril::serve
