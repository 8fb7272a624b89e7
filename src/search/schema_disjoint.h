// Whether two schemas exclude each other, which the alternatives of `oneOf` must: by their types, by the values that
// they list, or by a property that both require.
#pragma once

#include "search/schema_reader.h"

namespace tril::search {

/// Whether surely no value is valid against both a and b, which are in their simplest form.
bool are_disjoint(const Json& a, const Json& b, SchemaReader& reader);

}  // namespace tril::search
