// The graph of the languages between which a server's models translate: a language is a node, a model leads from each of its
// source languages to each of its targets. A pair of languages without a model is translated through other languages, the
// pivots: fr -> en -> de.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "language/code.h"
#include "serve/engine/models.h"

namespace tril::serve {

/// Maximum of PivotOptions::most.
inline constexpr std::int64_t most_pivots = 3;

struct PivotOptions {
  std::int64_t most = 1;               ///< maximum number of pivots of a translation; 0: none
  std::vector<std::string> preferred;  ///< languages, the best pivot first; others come after them
};

/// A model on a path, and the languages that it translates between, by its own names of them.
struct Hop {
  Models::Offer model;
  std::string source, target;
};

class LanguageGraph {
 public:
  /// @param models  those that do not state their languages, or do not translate, are left out
  LanguageGraph(const std::vector<Models::Offer>& models, const PivotOptions& options);

  /// The shortest path between two languages in any form of their codes (language/code.h); of several shortest ones, the one
  /// with the most preferred pivots, and then the one with the models that the server lists first. Empty: there is no path
  /// with at most PivotOptions::most pivots, or the languages are the same.
  std::vector<Hop> path(std::string_view source, std::string_view target) const;
  /// The languages that can be reached from one, by the names of the models that translate into them; without the language
  /// itself, unless a model translates from it into itself.
  std::vector<std::string> targets_of(std::string_view source) const;

 private:
  using Node = std::size_t;
  struct Place {
    Node node = 0;
    std::string name;  ///< the model's
  };
  struct Edges {
    Models::Offer model;
    std::vector<Place> sources, targets;
  };
  struct NodeLanguage {
    std::string name;
    std::optional<Language> language;
    std::size_t rank = 0;  ///< as a pivot, lower is better
  };
  std::optional<Node> find(std::string_view name) const;
  Node node_of(const std::string& name);
  std::vector<std::int64_t> distances_to(Node target) const;

  std::int64_t most_models_;
  std::vector<NodeLanguage> nodes_;
  std::vector<Edges> models_;
};

/// The public code of a language by its name: "de" for "deu_Latn"; a name that is not a code is returned unchanged.
std::string public_code(const std::string& name);

}  // namespace tril::serve
