// Where a command writes a model's directory: in a new one, or beside files that no model is made of.
#pragma once

#include <string>

namespace tril::cli {

/// @throws Error(usage) that names the first file in `directory` which is a model's or a tokenizer's: what is written would
/// replace it, or be read together with it
/// @param option  that names the directory, with its dashes
void refuse_files_of_models(const std::string& directory, const std::string& option);

}  // namespace tril::cli
