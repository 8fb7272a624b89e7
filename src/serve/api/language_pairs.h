// The pairs of languages between which a server translates, directly or through pivots.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "serve/api/language_graph.h"
#include "serve/engine/models.h"

namespace tril::serve {

/// Public codes of all languages, each with those that it is translated into. A model that does not state its source language has
/// `unknown_language` as its source.
std::map<std::string, std::vector<std::string>> language_pairs(const Models& models, const PivotOptions& pivots);

}  // namespace tril::serve
