// Turns a directory's configuration (tokenizer_config.h) into a tokenizer's settings.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "tokenizer/files/pipeline_tokenizer.h"
#include "tokenizer/files/tokenizer_config.h"

namespace tril {

/// @param where  names the tokenizer in errors
/// @param id_of  the id of a token by its text, or of a language by its code
/// @throws Error for a default language that the vocabulary lacks
TokenizerSettings settings_of(const TokenizerConfig& config, const std::string& where,
                              const std::function<std::optional<std::int32_t>(std::string_view)>& id_of);

}  // namespace tril
