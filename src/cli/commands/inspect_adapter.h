// tril inspect of a PEFT adapter's directory.
#pragma once

#include <string>

namespace tril::cli {

/// Whether a directory holds an adapter and no model.
bool is_adapter_directory(const std::string& directory);

/// Prints what the adapter changes. @return the exit code
/// @throws Error naming what is not supported or damaged
int inspect_adapter(const std::string& directory, bool json);

}  // namespace tril::cli
