// Chooses the model that translates a request by its languages, which may be given by codes in any form (language/code.h).
#pragma once

#include <string>
#include <vector>

#include "serve/api/service.h"
#include "tokenizer/files/language_tag.h"

namespace tril::serve {

/// The request's model and languages; "": unset.
struct TranslationWish {
  std::string model, source, target;
};
/// The wish of a request, in which a source of "auto" is unset.
/// @throws HttpError (400) for a target of "auto", or a text that is no code of a language, with the nearest one
TranslationWish checked_wish(const Service& service, const TranslationWish& asked);

/// The models that may satisfy a wish from checked_wish(): the named one, or all that fit, in the server's order.
/// @throws HttpError if there is none; 503 while models that may matter are loading
std::vector<Models::Offer> possible_models(const Service& service, const TranslationWish& wish);

/// The languages that the models read.
struct PossibleSources {
  std::vector<std::string> codes;   ///< public codes (KnownLanguages::code())
  std::vector<std::string> silent;  ///< names of models that do not state their source
  bool several() const { return codes.size() > 1 || (codes.size() == 1 && !silent.empty()); }
};
PossibleSources possible_sources(const std::vector<Models::Offer>& models);

/// The source language that was found in a text.
struct DetectedSource {
  std::string language;   ///< its public code
  double confidence = 0;  ///< 0 to 100
};

struct ModelChoice {
  Models::Offer model;
  std::string source, target;            ///< by the model's own names; "": unset
  std::vector<Hop> before;               ///< the path to the source of `model`, if no model translates directly
  std::string assumed;                   ///< the source language, if it is not given and only one is possible
  std::vector<DetectedSource> detected;  ///< of each text; empty: the source is given or assumed
};

/// The public codes of the pivots, in the order of the path.
std::vector<std::string> pivots_of(const ModelChoice& choice);

/// The first of possible_models(), preferring one with known languages. It may not be loaded yet.
/// If no model translates between two given languages, the last model of the shortest path between them (LanguageGraph).
/// @throws HttpError likewise, and naming the field that leaves an ambiguity (and the choices)
ModelChoice choose_model(const Service& service, const TranslationWish& wish);

/// The languages for scoring or attention, by the same rules: the fields are source_language and target_language, and a
/// missing target defaults to the one that the model's directory forces.
/// @throws HttpError naming the field that is required
Languages requested_languages(const ModelPtr& model, const std::string& source, const std::string& target);

/// The languages as the model takes them: its own codes, or any for a prompt.
/// @param source, target  "": not given
/// @throws Error(usage) naming the field of a language that the model does not have
Languages languages_for(const ServedModel& model, const std::string& source, const std::string& target,
                        const std::pair<std::string, std::string>& fields = {"source", "target"});

/// The tag before each sentence of a text, for a model with tags: that of the chosen language, or else the tag that the
/// text begins with, which applies to all that follows.
class TagsOfText {
 public:
  /// @param prefix the chosen language's tag (Languages::prefix); "": none
  /// @param field  the field that is required if the text has no tag either
  TagsOfText(const ServedModel& model, std::string prefix, std::string field);
  /// @throws HttpError if nothing determines the target language
  std::string put_before(const std::string& sentence);

 private:
  const ServedModel* model_;
  std::string prefix_, field_, last_;
};

}  // namespace tril::serve
