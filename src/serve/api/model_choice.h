// Which model translates a request. No language is detected here: where a request does not say what its text is in, there has
// to be but one that it can be in.
#pragma once

#include <string>
#include <vector>

#include "serve/api/service.h"
#include "tokenizer/files/language_tag.h"

namespace tril::serve {

/// What a request says; "" is unsaid, and so is a source of "auto", which no target may be. Languages may come as tags:
/// ">>de<<", "__de__".
struct TranslationWish {
  std::string model, source, target;
};

struct ModelChoice {
  ModelPtr model;
  std::string source, target;  ///< their codes as the request says them; "": unsaid
  std::string assumed;         ///< the language of the source, where it was not said and is known all the same
};

/// The model of that name, or the first that fits, one that knows its languages before one that does not; the call is told.
/// @throws HttpError naming the field that leaves a choice between languages or models (and what there is to choose from), or
/// that says what no model has; 503 while models are loaded on which it may depend
ModelChoice choose_model(Service& service, const CallPtr& call, const TranslationWish& wish);

/// What a model is told of texts that it scores or looks at, by the same rules: the fields are source_language and
/// target_language, and a target that is not said is the one that its directory forces.
/// @throws HttpError naming the one that has to be said
Languages told_languages(const ModelPtr& model, const std::string& source, const std::string& target);

/// What is put in front of the sentences of one text for a model with tags: the tag of the language that was chosen, or else
/// the one that the text begins with, which holds for what follows it.
class TagsOfText {
 public:
  /// @param said   the chosen one's (Languages::prefix); "": none
  /// @param field  which has to be said where the text has no tag either
  TagsOfText(const ServedModel& model, std::string said, std::string field);
  /// @throws HttpError where nothing says which of several languages it is to be translated into
  std::string put_before(const std::string& sentence);

 private:
  const ServedModel* model_;
  std::string said_, field_, last_;
};

/// What a model's texts may be in; none: it does not say.
std::vector<std::string> sources_of(const ServedModel& model);

}  // namespace tril::serve
