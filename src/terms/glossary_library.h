// All glossaries of a server: those of its operator, from files, and those that clients upload.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "terms/glossary_store.h"
#include "terms/term_matcher.h"

namespace tril::terms {

/// The glossaries that a translation requests.
struct GlossaryWish {
  std::vector<std::string> names;  ///< names or ids; for contradicting entries, the first glossary takes precedence
  LanguagePair pair;               ///< of the translation
  Match match = Match::ignore_case;
};

/// Thread-safe after the last add().
class GlossaryLibrary {
 public:
  explicit GlossaryLibrary(std::unique_ptr<GlossaryStore> store = std::make_unique<GlossaryStore>())
      : store_(std::move(store)) {}

  /// Adds a glossary of the operator, which every client may use and none may remove.
  /// @throws Error(usage) if the name exists, or a table states no languages
  void add(const std::string& name, TermTable table);

  /// The terms for a translation; null if no names are given. @param viewer  whose uploaded glossaries may be used
  /// @throws Error(usage) at `glossary`: an unknown or ambiguous name, or a glossary of other languages
  std::shared_ptr<const TermMatcher> matcher(const GlossaryWish& wish, const Viewer& viewer) const;

  GlossaryStore& store() const { return *store_; }
  /// The operator's tables by their names.
  const std::map<std::string, TermTable>& tables() const { return tables_; }

 private:
  /// A glossary of the operator or of a client, and the key under which its matcher is kept.
  struct Chosen {
    std::string key;
    const TermTable* table = nullptr;
    StoredGlossaryPtr stored = nullptr;
  };
  Chosen choose(const std::string& name, const LanguagePair& pair, const Viewer& viewer) const;
  StoredGlossaryPtr choose_stored(const std::string& name, const LanguagePair& pair, const Viewer& viewer) const;
  [[noreturn]] void fail_unknown(const std::string& name, const Viewer& viewer) const;

  std::unique_ptr<GlossaryStore> store_;
  std::map<std::string, TermTable> tables_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, std::shared_ptr<const TermMatcher>> matchers_;  ///< guarded by mutex_; recent ones
};

}  // namespace tril::terms
