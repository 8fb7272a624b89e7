// The tokenizer of the public interface.
#include <tril/tokenize.h>

#include "base/error.h"
#include "library/model_state.h"
#include "library/named_options.h"

namespace tril::v0 {
namespace {

tril::Side side_of(Side side) {
  return side == Side::source ? tril::Side::source : tril::Side::target;
}

TextTokens split(const TokenizerState& state, std::string_view text, const TokenizeOptions& o) {
  library::check_utf8(text, "text");
  const TextTokenizer& side = o.side == Side::source ? state.source : state.target;
  return side.tokens_of(text, o.special_tokens, o.language);
}

void check_id(const tril::Tokenizer& tokenizer, std::int32_t id, Side side) {
  const std::int32_t size = tokenizer.size(side_of(side));
  check(id >= 0 && id < size, "ids", "{} is not in the vocabulary, expected ids from 0 to {}", id, size - 1);
}

}  // namespace

Tokenizer::Tokenizer(std::shared_ptr<const TokenizerState> state) : state_(std::move(state)) {}

Tokenizer Tokenizer::open(const std::string& path_or_name, const Options& options) {
  bool pull = false;
  Fields fields;
  fields.add("pull", &pull, "download the model from the hub if it is not in the cache");
  library::set_options(fields, options);
  const auto source = model::ModelSource::open(library::path_of_model(path_or_name, pull));
  return Tokenizer(std::make_shared<const TokenizerState>(source.tokenizer()));
}

std::vector<std::int32_t> Tokenizer::encode(std::string_view text, const TokenizeOptions& o) const {
  return split(*state_, text, o).ids;
}

std::vector<Token> Tokenizer::tokens(std::string_view text, const TokenizeOptions& o) const {
  TextTokens tokens = split(*state_, text, o);
  std::vector<Token> list;
  for (std::size_t i = 0; i < tokens.ids.size(); ++i)
    list.push_back({tokens.ids[i], std::move(tokens.pieces[i]), tokens.bytes[i].begin, tokens.bytes[i].end});
  return list;
}

std::string Tokenizer::decode(std::span<const std::int32_t> ids, const TokenizeOptions& o) const {
  for (const std::int32_t id : ids) check_id(*state_->tokenizer, id, o.side);
  return (o.side == Side::source ? state_->source : state_->target).text_of(ids, o.special_tokens);
}

std::int32_t Tokenizer::size(Side side) const {
  return state_->tokenizer->size(side_of(side));
}

std::string Tokenizer::piece(std::int32_t id, Side side) const {
  check_id(*state_->tokenizer, id, side);
  return state_->tokenizer->piece(id, side_of(side));
}

std::optional<std::int32_t> Tokenizer::find(std::string_view piece, Side side) const {
  return state_->tokenizer->find(piece, side_of(side));
}

}  // namespace tril::v0
