// The glossaries and translation memories that a server is started with.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "cli/serving/serve_options.h"
#include "serve/api/service.h"

namespace tril::cli {

/// The values of --glossary, and the directory of --glossary-dir. Logs the readers' warnings.
/// @throws Error naming a file and a line, or (usage) at --glossary or --glossary-dir
std::shared_ptr<terms::GlossaryLibrary> glossaries_of(const ServeOptions& o);

/// The values of --memory. @throws Error likewise
std::map<std::string, serve::ServedMemory> memories_of(const ServeOptions& o);

}  // namespace tril::cli
