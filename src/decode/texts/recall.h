// Translations from a memory in place of a search (TextOptions::recall).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "terms/translation_memory.h"
#include "tokenizer/files/tokenizer.h"

namespace tril::search {

/// The translation of a text that is in the memory exactly.
/// @param tag        the language tag before each text, which the memory's sentences do not have; may be ""
/// @param tokenizer  knows the tags; must outlive the function
std::function<std::optional<std::string>(const std::string& text)> recall_from(
    std::shared_ptr<const terms::TranslationMemory> memory, const std::string& tag, const Tokenizer& tokenizer);

}  // namespace tril::search
