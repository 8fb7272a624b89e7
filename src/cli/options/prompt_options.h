// Options for translation with a language model: its prompt.
#pragma once

#include <memory>
#include <string>

#include "base/fields.h"
#include "decode/prompts/translation_prompt.h"
#include "model/spec/model.h"
#include "model_io/model_source.h"

namespace tril::cli {

struct PromptOptions {
  std::string prompt_template, style;
  std::int64_t context = 0;
};

/// --prompt-template.
Field& add_prompt_template_field(Fields& f, std::string& prompt_template);
/// --prompt-template, --context, --style.
void add_prompt_fields(Fields& f, PromptOptions& o);

/// The prompt of a model without an encoder, and a message that names it; null for a model with an encoder.
/// @throws Error(usage) as choose_prompt(), or if a prompt is given for a model with an encoder
std::shared_ptr<const search::TranslationPrompt> load_prompt(const model::ModelSource& source,
                                                             const model::Model& model,
                                                             const std::string& prompt_template);

}  // namespace tril::cli
