// The prompt of a language model that translates, and a message that names it.
#pragma once

#include <memory>
#include <string>

#include "decode/models/prompt_fields.h"
#include "decode/prompts/translation_prompt.h"
#include "model/spec/model.h"
#include "model_io/source/model_source.h"

namespace tril::cli {

/// The prompt of a model without an encoder, and a message that names it; null for a model with an encoder.
/// @throws Error(usage) as choose_prompt(), or if a prompt is given for a model with an encoder
std::shared_ptr<const search::TranslationPrompt> load_prompt(const model::ModelSource& source,
                                                             const model::Model& model,
                                                             const std::string& prompt_template);

}  // namespace tril::cli
