// The program's help, generated from the registry: --help, `tril help`, and docs/options.md.
#pragma once

#include <string>

#include "cli/app/app.h"

namespace tril::cli {

/// All commands, one line each.
std::string overview(const App& app);
/// One command: usage, options under their headings, examples.
std::string help_text(const Command& command);
/// The full reference of all commands as Markdown: docs/options.md.
std::string markdown_reference(const App& app);

}  // namespace tril::cli
