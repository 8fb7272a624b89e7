// JSON schema as a grammar: every text that it allows is JSON and valid against the schema. Not every valid text is
// allowed: properties come in the schema's order, a number has one form, additional properties come last, and only if
// the schema mentions them, or constrains no others.
//
// A schema becomes boxes (schema_boxes.h), its normal form: the valid values by kind, without "or" and "not". Each conjunction
// of schemas that a value or a part of it must satisfy is a rule of the grammar, which calls those of its parts, so that
// schemas may be recursive. docs/generation.md lists the keywords, by draft, and what is left out of each.
//
// A keyword that no draft defines is an annotation and is ignored. A part that needs something unsupported is never generated;
// if nothing else is left, the schema is refused. SchemaNotes list both.
#pragma once

#include <string>
#include <string_view>

#include "grammar/automata/grammar.h"
#include "grammar/expressions/char_set.h"
#include "grammar/schemas/json_layout.h"
#include "grammar/schemas/schema_notes.h"

namespace tril::search {

struct JsonStyle {
  JsonSpace space = JsonSpace::space;
  CharSet alphabet = all_chars();  ///< the characters that the vocabulary can spell
};

struct CompiledSchema {
  Grammar grammar;
  SchemaNotes notes;  ///< the parts of the schema that the grammar does not follow
};

/// @param schema  JSON text
/// @throws Error(usage) naming the place in the schema and the keyword
CompiledSchema compile_json_schema(std::string_view schema, const JsonStyle& style = {});
/// Any object.
Grammar json_object_grammar(const JsonStyle& style = {});

}  // namespace tril::search
