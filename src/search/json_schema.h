// JSON schema (draft 2020-12, and what older drafts have in common with it) as a grammar: every text that it writes is
// JSON and valid against the schema. Not every valid text is written: properties come in the schema's order, a number has
// one form, additional properties come last and only where the schema says something about them, or nothing about others.
//
// Understood: type (one or several), enum, const, anyOf, oneOf (of alternatives that exclude each other), allOf, $ref to
// #/... with any recursion, true and false;
//   objects   properties, required, additionalProperties, patternProperties (one), propertyNames, minProperties,
//             maxProperties
//   arrays    items, prefixItems, minItems, maxItems
//   strings   minLength, maxLength, pattern, format (date, time, date-time, duration, email, hostname, ipv4, ipv6, uri,
//             uuid)
//   numbers   minimum, maximum, exclusiveMinimum, exclusiveMaximum; multipleOf of integers
// What only annotates (title, description, default, examples, ...) is passed over; any other keyword is refused by name.
#pragma once

#include <string>
#include <string_view>

#include "search/char_set.h"
#include "search/grammar.h"
#include "search/json_layout.h"

namespace tril::search {

struct JsonStyle {
  JsonSpace space = JsonSpace::space;
  CharSet alphabet = all_chars();  ///< the characters that the vocabulary can spell
};

/// @param schema  JSON
/// @throws Error(usage) naming the place in the schema and the keyword
Grammar json_schema_grammar(std::string_view schema, const JsonStyle& style = {});
/// Any object.
Grammar json_object_grammar(const JsonStyle& style = {});

}  // namespace tril::search
