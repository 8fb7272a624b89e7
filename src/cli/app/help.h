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

/// "-i, --input FILE", "--train-sets FILE...", "--[no-]tie".
std::string flag_text(const Field& field);
/// "hypotheses kept (at least 1; default 6)". @param fields  those that its help may mention
std::string described(const Field& field, const Fields& fields);

}  // namespace tril::cli
