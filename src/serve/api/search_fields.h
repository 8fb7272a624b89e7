// The search options of a request: its fields under the clients' names, and the plan that results from them and the
// model's defaults.
#pragma once

#include <cstdint>

#include "base/fields.h"
#include "serve/engine/served_model.h"
#include "settings/search_options.h"

namespace tril::serve {

/// Limits of a request's beam: tighter than a command's, because requests share the server's memory.
inline constexpr Range served_beams{1, 64};

/// The fields of settings/search_options.h that a request may have.
/// @param translates  whether to include fields that only translation has
void add_search_fields(Fields& f, SearchOptions& asked, bool translates);

/// @param defaults  the options that `asked` does not set: Loaded::asked or ServedModel::asked_to_translate()
/// @param n         hypotheses wanted; without a beam size in the request, the beam gets this size
/// @throws HttpError (400) naming a field that contradicts another
search::SearchPlan search_plan(SearchOptions asked, const SearchOptions& defaults, std::int64_t n,
                               const ServedModel& model);

}  // namespace tril::serve
