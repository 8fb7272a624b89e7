// The numbers of a schema as a grammar: bounds, factors, whole or not.
#pragma once

#include <cstdint>

#include "grammar/automata/grammar_text.h"
#include "grammar/schemas/schema_boxes.h"

namespace tril::search {

/// The least (greatest) whole number within a bound; nothing if its magnitude is 10^18 or more.
std::optional<std::int64_t> whole_bound(const Box::Bound& bound, bool is_least);

/// Writes the numbers of a box that lists none, between two states.
/// @param place  for errors
/// @throws Unsupported naming the place and what is not supported
void write_number(GrammarWriter& writer, const Box& box, const std::string& place, std::int32_t from, std::int32_t to);

}  // namespace tril::search
