// Constraints on generated text from a JSON schema or a regular expression.
#pragma once

#include <memory>
#include <string_view>

#include "grammar/automata/constraint.h"
#include "grammar/schemas/json_schema.h"
#include "tokenizer/files/tokenizer.h"

namespace tril::search {

/// The tokens of a vocabulary as a trie. Build it once per model, for all constraints.
std::shared_ptr<const TokenTrie> token_trie(const Tokenizer& tokenizer, Side side = Side::target);

/// A JSON constraint, and notes on the parts of the schema that it ignores.
struct JsonForm {
  std::shared_ptr<const Constraint> constraint;
  SchemaNotes notes;
};

/// Allows JSON that is valid against a JSON schema.
/// @throws Error(usage) naming the place in the schema, or the character that the vocabulary cannot produce
JsonForm json_schema_constraint(std::string_view schema, const std::shared_ptr<const TokenTrie>& tokens,
                                JsonSpace space = JsonSpace::space);
/// Allows any JSON object.
std::shared_ptr<const Constraint> json_object_constraint(const std::shared_ptr<const TokenTrie>& tokens,
                                                         JsonSpace space = JsonSpace::space);
/// Allows texts that the regular expression matches as a whole.
std::shared_ptr<const Constraint> regex_constraint(std::string_view regex,
                                                   const std::shared_ptr<const TokenTrie>& tokens);

}  // namespace tril::search
