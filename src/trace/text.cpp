#include "trace/text.h"

#include <algorithm>
#include <charconv>

#include "base/as_size.h"
#include "decode/texts/continuation_text.h"
#include "decode/texts/translation_text.h"
#include "tokenizer/files/sentence_frame.h"

namespace tril::trace {
namespace {

Input of_encoder_decoder(const model::Model& m, const Tokenizer& tokenizer, const Texts& texts) {
  Input input;
  input.source = sentence_ids(tokenizer, texts.text, Side::source, texts.source_language);
  const std::int32_t start = search::decoder_start(m, tokenizer, texts.target_language);
  input.tokens = {start}, input.prompt = 1;
  if (texts.target.empty()) {
    input.labels = {-1};
    return input;
  }
  input.labels = sentence_ids(tokenizer, texts.target, Side::target, texts.target_language);
  if (input.labels.empty()) fail_usage("target", "has no token", "give a text of at least one token, or none");
  input.tokens.insert(input.tokens.end(), input.labels.begin(), input.labels.end() - 1);
  return input;
}

Input of_language_model(const model::Model& m, const Tokenizer& tokenizer, const Texts& texts) {
  Input input;
  input.tokens = tokenizer.frame(Side::target).prefix;
  if (texts.text.empty() && input.tokens.empty() && m.special_ids().bos >= 0) input.tokens = {m.special_ids().bos};
  tokenizer.encode(texts.text, Side::target, input.tokens);
  input.prompt = std::ssize(input.tokens);
  const std::size_t given = texts.target.empty() ? 1 : input.tokens.size();
  tokenizer.encode(texts.target, Side::target, input.tokens);
  for (std::size_t t = 0; t < input.tokens.size(); ++t) {
    const bool counts = t + 1 < input.tokens.size() && t + 1 >= given;
    input.labels.push_back(counts ? input.tokens[t + 1] : -1);
  }
  return input;
}

}  // namespace

TextReader::TextReader(const model::Model& model, std::shared_ptr<const Tokenizer> tokenizer)
    : model_(&model), tokenizer_(std::move(tokenizer)) {
  if (model.has_encoder())
    search::check_tokenizer(model, *tokenizer_);
  else
    search::check_language_model(model, *tokenizer_);
}

Input TextReader::read(const Texts& texts) const {
  if (model_->has_encoder()) return of_encoder_decoder(*model_, *tokenizer_, texts);
  for (const std::string* language : {&texts.source_language, &texts.target_language})
    if (!language->empty())
      fail_usage("language",
                 fmt::format("is for models that translate, but a {} model is a language model", model_->family()),
                 "leave it out");
  Input input = of_language_model(*model_, *tokenizer_, texts);
  if (input.tokens.empty()) fail_usage("text", "has no token", "give a text of at least one token");
  return input;
}

std::vector<std::string> TextReader::pieces(const std::vector<std::int32_t>& ids, bool source) const {
  const Side side = source ? Side::source : Side::target;
  std::vector<std::string> list;
  for (const std::int32_t id : ids)
    list.push_back(has_piece(id, side) ? tokenizer_->piece(id, side) : fmt::format("#{}", id));
  return list;
}

std::string TextReader::text_of(const std::vector<std::int32_t>& ids) const {
  std::string text;
  for (auto at = ids.begin(); at != ids.end();) {
    const auto end = std::find_if(at, ids.end(), [&](std::int32_t id) { return !has_piece(id); });
    text += tokenizer_->decode({at, end}, Side::target);
    at = end;
    if (at != ids.end()) text += fmt::format("#{}", *at++);
  }
  return text;
}

bool TextReader::has_piece(std::int32_t id, Side side) const {
  return id >= 0 && id < tokenizer_->size(side);
}

std::vector<std::int32_t> TextReader::ends() const {
  std::vector<std::int32_t> ids;
  for (const std::int32_t id : {model_->special_ids().eos, tokenizer_->special(Side::target).eos})
    if (id >= 0) ids.push_back(id);
  return ids;
}

std::int32_t TextReader::id_of(const Edit& edit, Side side) const {
  if (edit.piece.starts_with('#')) {
    std::int32_t id = -1;
    const char* const end = edit.piece.data() + edit.piece.size();
    const auto [read, error] = std::from_chars(edit.piece.data() + 1, end, id);
    if (error == std::errc() && read == end && id >= 0 && id < tokenizer_->size(side)) return id;
    fail_usage(edit.text, fmt::format("{} is no id of a vocabulary of {}", edit.piece, tokenizer_->size(side)));
  }
  if (const std::optional<std::int32_t> id = tokenizer_->find(edit.piece, side)) return *id;
  const std::vector<std::int32_t> ids = tokenizer_->encode(edit.piece, side);
  if (ids.size() == 1) return ids[0];
  fail_usage(edit.text, fmt::format("\"{}\" is {} tokens, not one", edit.piece, ids.size()),
             "give one piece of the vocabulary, or an id such as #17");
}

void TextReader::replace_tokens(Input& input, std::span<const Edit> edits) const {
  for (const Edit& e : edits) {
    if (!e.of_tokens()) continue;
    const bool of_encoder = e.pattern == "encoder.tokens";
    if (!of_encoder && e.pattern != "decoder.tokens")
      fail_usage(e.text, "there are no such tokens", "name encoder.tokens or decoder.tokens");
    std::vector<std::int32_t>& ids = of_encoder ? input.source : input.tokens;
    if (*e.token >= std::ssize(ids))
      fail_usage(e.text, fmt::format("there is no token {}: the text has {}", *e.token, ids.size()),
                 "tokens count from 0");
    const auto place = as_size(*e.token);
    ids[place] = id_of(e, of_encoder ? Side::source : Side::target);
  }
}

}  // namespace tril::trace
