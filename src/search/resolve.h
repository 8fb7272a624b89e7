// From the options of a search to its plan.
#pragma once

#include "search/plan.h"
#include "settings/search_options.h"

namespace tril::search {

/// The complete plan. Unset options take the defaults of `transformers`, which publishers rely on.
/// @param asked  the merged options of publisher, server and request (overlay)
/// @param known  the tokens that the vocabulary and the model's directory define; its numbers are replaced
/// @throws Error(usage) naming the field that contradicts another
SearchPlan resolve(const SearchOptions& asked, SearchPlan known = {});

/// Rejects options that have no effect in the plan. For options that a person wrote.
/// @param asked  the options of one source, before merging
/// @throws Error(usage) naming the field and what it needs
void check_all_used(const SearchOptions& asked, const SearchPlan& plan);

}  // namespace tril::search
