// The prompts of published translation models, and the general one.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "decode/prompts/translation_prompt.h"

namespace tril::search {

/// The languages of those models of a family whose names have a part.
struct NamedLanguages {
  std::string_view part;               ///< "group1", in lower case
  std::vector<std::string> languages;  ///< codes
};

/// A family of translation models and its prompt.
struct KnownPrompt {
  std::string_view key;  ///< its name as an option's value: "tower-plus"
  /// Parts of the names of its models, in lower case: "hunyuan-mt"; * is any text.
  std::vector<std::string_view> names;
  std::vector<std::string_view> without;  ///< parts that exclude a name: "chimera"
  std::vector<std::string_view> types;    ///< `model_type` of its models
  PromptDescription prompt;
  std::vector<NamedLanguages> languages_of = {};  ///< if the publisher's models have different languages
};

/// All known prompts. If several fit a name, the first one is used.
const std::vector<KnownPrompt>& known_prompts();

/// The prompt with this key, or null.
const KnownPrompt* find_prompt(std::string_view key);

/// The prompt for a chat model that is not known.
PromptDescription general_prompt();

/// TranslateGemma's: its chat template takes the text and both codes [model card of google/translategemma-4b-it]. Its
/// languages are those of the template's own table, without the variants of regions.
/// @throws Error for a template with a mistake
PromptDescription structured_prompt(const std::string& chat_template);

/// The table of TranslateGemma's chat template: {% set languages = {"de": "German", ...} %}.
inline constexpr std::string_view languages_table = "languages";

}  // namespace tril::search
