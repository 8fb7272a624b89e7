#include "decode/texts/recall.h"

#include "tokenizer/files/language_tag.h"

namespace tril::search {

std::function<std::optional<std::string>(const std::string& text)> recall_from(
    std::shared_ptr<const terms::TranslationMemory> memory, const std::string& tag, const Tokenizer& tokenizer) {
  return [memory = std::move(memory), tag, &tokenizer](const std::string& text) -> std::optional<std::string> {
    // A text with a tag of its own is not in the memory's languages.
    if (!text.starts_with(tag) || (tag.empty() && !leading_tag(tokenizer, text).empty())) return std::nullopt;
    return memory->exact(std::string_view(text).substr(tag.size()));
  };
}

}  // namespace tril::search
