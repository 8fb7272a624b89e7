// Where the names of glossaries and translation memories in a request are looked up.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "terms/glossary_library.h"
#include "terms/translation_memory.h"

namespace tril::serve {

/// A translation memory of the operator.
struct ServedMemory {
  terms::LanguagePair pair;
  std::shared_ptr<const terms::TranslationMemory> memory;
};
using ServedMemories = std::map<std::string, ServedMemory>;

/// Those of the server, as one client sees them.
struct TermSources {
  std::shared_ptr<const terms::GlossaryLibrary> glossaries;
  std::shared_ptr<const ServedMemories> memories;
  terms::Viewer viewer;  ///< whose uploaded glossaries may be used
};

}  // namespace tril::serve
