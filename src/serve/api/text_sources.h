// Finds the source language of each text of a request that does not give it, among the languages that the models read.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "language/detect.h"
#include "serve/api/model_choice.h"

namespace tril::serve {

/// Detectors by their languages, since making one takes several milliseconds.
class Detectors {
 public:
  /// @param codes  public codes; those that cannot be detected are left out. None at all: all languages that can be
  std::shared_ptr<const LanguageDetector> of(const std::vector<std::string>& codes);

 private:
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const LanguageDetector>> known_;
};

/// Some texts of a request, which one model translates from one language.
struct TextGroup {
  ModelChoice choice;
  std::vector<std::size_t> texts;  ///< their places in the request
};

/// The models for the texts of a request; usually one for all. The languages of the texts are detected if the source is "auto", or
/// not given although there are several. A text without letters goes with the others.
/// @param asked  as in the request
/// @param count  of the texts
/// @param texts  gives them without markup; called only if languages are detected
/// @throws HttpError like choose_model(), and (400) for a text whose language is uncertain, naming the candidates
std::vector<TextGroup> choose_models(Service& service, const TranslationWish& asked, std::size_t count,
                                     const std::function<std::vector<std::string>()>& texts);

}  // namespace tril::serve
