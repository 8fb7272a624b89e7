// What a model of the public interface holds.
#pragma once

#include <tril/model.h>

#include <memory>
#include <string>
#include <string_view>

#include "decode/models/model_set.h"
#include "decode/prompts/translation_prompt.h"
#include "model/spec/model.h"
#include "model_io/source/model_source.h"
#include "tokenizer/files/text_tokens.h"
#include "tokenizer/files/tokenizer.h"

namespace tril::v0 {

struct TokenizerState {
  explicit TokenizerState(std::shared_ptr<const tril::Tokenizer> t)
      : tokenizer(std::move(t)), source(*tokenizer, tril::Side::source), target(*tokenizer, tril::Side::target) {}

  std::shared_ptr<const tril::Tokenizer> tokenizer;
  TextTokenizer source, target;
};

struct ModelState {
  model::ModelSource source;
  std::shared_ptr<const model::Model> model;
  std::shared_ptr<const tril::Tokenizer> tokenizer;
  ModelSet others;         ///< of an ensemble, and a draft model
  std::string changed_by;  ///< changed_weights_by()
};

}  // namespace tril::v0

namespace tril::library {

/// The path of a model by its path or its name on a hub. @param pull  whether it may be downloaded
std::string path_of_model(const std::string& path_or_name, bool pull);

/// The prompt of a language model that translates; null for a model with an encoder. @param asked  as choose_prompt() takes it
std::shared_ptr<const search::TranslationPrompt> prompt_of(const v0::ModelState& m, const std::string& asked);

/// Throws Error(usage) if a text is not UTF-8. @param where  "text 3"
void check_utf8(std::string_view text, const std::string& where);

}  // namespace tril::library
