// Chooses the prompt for a model.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "decode/prompts/known_prompts.h"
#include "model_io/source/model_source.h"

namespace tril::search {

/// A prompt, and why it was chosen.
struct ChosenPrompt {
  PromptDescription prompt;
  std::string reason;    ///< "its chat template takes source_lang_code", for a message
  bool general = false;  ///< it is general_prompt(), for an unknown chat model
};

/// The prompt of a model without an encoder. It is found by, in this order: a chat template that takes source_lang_code; the
/// model's name together with its model_type; a chat template, which gets general_prompt(). The name is `_name_or_path` of
/// config.json, or the name of the directory, file or hub repository.
/// @param asked  a key of known_prompts(), "general", a template (a text with {{ or {%), or a file that holds one; "":
///               not given. A template is a user's message if the model has a chat template, and a text otherwise
/// @throws Error(usage) at `prompt_template` if there is no such prompt; Error(usage) if the model is not known and has no
///   chat template
ChosenPrompt choose_prompt(const model::ModelSource& source, const std::string& asked);

/// The prompt of a model that is known by its chat template or its name, or nothing.
std::optional<ChosenPrompt> known_prompt(const model::ModelSource& source);

/// The known prompt for a model of these names and this model_type, or null.
const KnownPrompt* prompt_of_names(const std::vector<std::string>& names, const std::string& type);

}  // namespace tril::search
