// What a schema says of numbers, as a grammar: minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf.
#pragma once

#include <cstdint>
#include <string>

#include "search/grammar_text.h"
#include "search/schema_words.h"

namespace tril::search {

/// Writes the numbers that are valid against the schema, which is in its simplest form, between two states.
/// @param whole  integers alone
/// @throws Error(usage) naming the place, and what is wrong or not supported
void write_number(GrammarWriter& writer, const Json& schema, bool whole, std::int32_t from, std::int32_t to,
                  const std::string& place);

}  // namespace tril::search
