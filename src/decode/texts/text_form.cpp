#include "decode/texts/text_form.h"

#include <utility>

#include "grammar/automata/grammar_text.h"
#include "tokenizer/files/token_bytes.h"

namespace tril::search {

std::shared_ptr<const TokenTrie> token_trie(const Tokenizer& tokenizer, Side side) {
  return std::make_shared<TokenTrie>(token_bytes(tokenizer, side));
}

JsonForm json_schema_constraint(std::string_view schema, const std::shared_ptr<const TokenTrie>& tokens,
                                JsonSpace space) {
  CompiledSchema compiled = compile_json_schema(schema, {.space = space, .alphabet = tokens->alphabet()});
  return {std::make_shared<Constraint>(std::move(compiled.grammar), tokens), std::move(compiled.notes)};
}

std::shared_ptr<const Constraint> json_object_constraint(const std::shared_ptr<const TokenTrie>& tokens,
                                                         JsonSpace space) {
  return std::make_shared<Constraint>(json_object_grammar({.space = space, .alphabet = tokens->alphabet()}), tokens);
}

std::shared_ptr<const Constraint> regex_constraint(std::string_view regex,
                                                   const std::shared_ptr<const TokenTrie>& tokens) {
  return std::make_shared<Constraint>(regex_grammar(regex, tokens->alphabet()), tokens);
}

}  // namespace tril::search
