// The texts of a translation request, split into sentences.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "decode/texts/translation_text.h"
#include "document/segments/document_sentences.h"
#include "serve/api/translate_request.h"
#include "serve/engine/served_model.h"
#include "serve/engine/work.h"

namespace tril::serve {

/// A text of the request: its sentences, and the translations of each.
struct SplitText {
  SplitText(std::unique_ptr<document::Document> d, const SegmentOptions& options)
      : document(std::move(d)), sentences(*document, options), translations(sentences.size()) {
    for (std::size_t k = 0; k < sentences.size(); ++k) sources.push_back(sentences.text(k));
  }

  std::unique_ptr<document::Document> document;
  document::DocumentSentences sentences;
  std::vector<std::string> sources;  ///< what the last model reads: the sentences, or their translations into a pivot
  std::vector<std::vector<search::Translation>> translations;
  std::string sent;                  ///< of a stream: what has been sent
  Clock::time_point next_told = {};  ///< the next event is not sent before
};

using SplitTexts = std::shared_ptr<std::vector<SplitText>>;

/// What a model reads of each text: a tag before each sentence, and options.
struct SentencesFor {
  const ServedModel& model;
  std::string tag;
  const search::TextOptions& options;
};

/// The texts of a request, by its format and how it is split. Lines and sentences that exceed the model's positions are cut.
/// @param language  of the texts, as for SegmentOptions; "": unknown
SplitTexts split_texts(const TranslateRequest& request, const std::string& language, const SentencesFor& reader);

/// Adds a warning to the response if the model reads only the beginning of a sentence. split_texts() prevents this, but the
/// translation of a sentence by one model may be too long for the next one.
void warn_if_truncated(Warnings& warnings, const search::TextToTranslate& sentence, const ServedModel& model);

/// The texts without markup, for the detection of their languages.
std::vector<std::string> plain_texts(const TranslateRequest& request);

}  // namespace tril::serve
