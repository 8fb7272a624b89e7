// The search's part of a request: its fields as clients name them, and the plan that they come to with those that the model is
// served with.
#pragma once

#include <cstdint>

#include "base/fields.h"
#include "serve/engine/served_model.h"
#include "settings/search_options.h"

namespace tril::serve {

/// The fields of settings/search_options.h that a request may have. A server bounds beams more tightly: they share its memory.
/// @param translates  whether it is for a model that translates, with the fields that only those have
void add_search_fields(Fields& f, SearchOptions& asked, bool translates);

/// @param n  hypotheses wanted; a request that sets no beam size gets a beam that has them
/// @throws HttpError (400) naming the field that contradicts another
search::SearchPlan search_plan(SearchOptions asked, std::int64_t n, const ServedModel& model);

}  // namespace tril::serve
