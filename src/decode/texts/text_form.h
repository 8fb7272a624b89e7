// What a text must be, from what a user says of it to a constraint of a search in one call.
#pragma once

#include <memory>
#include <string_view>

#include "grammar/automata/constraint.h"
#include "grammar/schemas/json_schema.h"
#include "tokenizer/files/tokenizer.h"

namespace tril::search {

/// The tokens that texts are made of: once for a model, for all its constraints.
std::shared_ptr<const TokenTrie> token_trie(const Tokenizer& tokenizer, Side side = Side::target);

/// What makes a text JSON, and what of the schema it does not follow, to be told.
struct JsonForm {
  std::shared_ptr<const Constraint> constraint;
  SchemaNotes notes;
};

/// JSON that is valid against a schema, which is JSON itself.
/// @throws Error(usage) naming the place in the schema, or the character that the vocabulary cannot spell
JsonForm json_schema_constraint(std::string_view schema, std::shared_ptr<const TokenTrie> tokens,
                                JsonSpace space = JsonSpace::space);
/// Any JSON object.
std::shared_ptr<const Constraint> json_object_constraint(std::shared_ptr<const TokenTrie> tokens,
                                                         JsonSpace space = JsonSpace::space);
/// A text that the regular expression matches as a whole.
std::shared_ptr<const Constraint> regex_constraint(std::string_view regex, std::shared_ptr<const TokenTrie> tokens);

}  // namespace tril::search
