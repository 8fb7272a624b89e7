// From what was asked of a search to what it is run with.
#pragma once

#include "search/plan.h"
#include "settings/search_options.h"

namespace tril::search {

/// A plan with every number decided. An unset field takes the default of `transformers`, whose docs publishers go by.
/// @param asked  the sum of all that had a say (overlay)
/// @param known  what the vocabulary and the model's directory say of tokens; its numbers are replaced
/// @throws Error(usage) naming the field that contradicts another
SearchPlan resolve(const SearchOptions& asked, SearchPlan known = {});

/// Refuses what has no effect, for edges where a person should hear of it.
/// @param asked  one author's options
/// @param plan   what they came to
/// @throws Error(usage) naming the field, and what it needs
void check_all_used(const SearchOptions& asked, const SearchPlan& plan);

}  // namespace tril::search
