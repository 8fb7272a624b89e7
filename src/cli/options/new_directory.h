// Checks the directory for a new model: it must be new, or hold no files of models.
#pragma once

#include <string>

namespace tril::cli {

/// @throws Error(usage) if `directory` holds a model
/// @param option  that sets the directory, with its dashes
void refuse_models(const std::string& directory, const std::string& option);

/// @throws Error(usage) naming the first file in `directory` that belongs to a model or tokenizer: the output would
///   replace it, or be mixed with it
/// @param option  that sets the directory, with its dashes
void refuse_files_of_models(const std::string& directory, const std::string& option);

}  // namespace tril::cli
