// The prompts of published translation models, and the general one.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "decode/prompts/translation_prompt.h"

namespace tril::search {

/// A family of translation models and its prompt.
struct KnownPrompt {
  std::string_view key;  ///< its name as an option's value: "tower-plus"
  /// Parts of the names of its models, in lower case: "hunyuan-mt"; * is any text.
  std::vector<std::string_view> names;
  std::vector<std::string_view> without;  ///< parts that exclude a name: "chimera"
  std::vector<std::string_view> types;    ///< `model_type` of its models
  PromptDescription prompt;
};

/// All known prompts. If several fit a name, the first one is used.
const std::vector<KnownPrompt>& known_prompts();

/// The prompt with this key, or null.
const KnownPrompt* find_prompt(std::string_view key);

/// The prompt for a chat model that is not known.
PromptDescription general_prompt();

/// TranslateGemma's: its chat template takes the text and both codes [model card of google/translategemma-4b-it].
PromptDescription structured_prompt();

}  // namespace tril::search
