// tril inspect of a directory of Medusa heads.
#pragma once

#include <string>

namespace tril::cli {

/// Prints how many heads there are, their sizes, and whether they share the model's output matrix. @return the exit code
/// @throws Error naming what does not fit or is damaged
int inspect_medusa(const std::string& directory, bool json);

}  // namespace tril::cli
