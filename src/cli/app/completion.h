// Completion scripts for shells, made from the registry.
#pragma once

#include <string>

#include "cli/app/app.h"

namespace tril::cli {

std::string bash_completion(const App& app);
std::string zsh_completion(const App& app);
std::string fish_completion(const App& app);

}  // namespace tril::cli
