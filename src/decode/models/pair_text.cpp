#include "decode/models/pair_text.h"

#include <utility>

#include "base/error.h"
#include "decode/texts/search_setup.h"
#include "decode/texts/translation_text.h"
#include "tokenizer/files/sentence_frame.h"

namespace tril {

PairEncoder::PairEncoder(const model::Model& model, const model::ModelSource& opened, Languages languages,
                         std::string_view target, std::shared_ptr<const search::TranslationPrompt> prompt)
    : model_(&model),
      tokenizer_(opened.tokenizer()),
      languages_(std::move(languages)),
      target_language_(model, *tokenizer_, target,
                       !model.has_encoder() || opened.generation().forced_bos_token_id.has_value()) {
  if (model.has_encoder()) {
    frames_ = {sentence_frame(*tokenizer_, Side::source, languages_.source),
               sentence_frame(*tokenizer_, Side::target, languages_.target)};
    return;
  }
  const search::TranslatorOptions options = search::translator_options({}, opened.generation(), model, *tokenizer_);
  eos_ids_ = options.decoding.search.eos_ids;
  prompted_options_.source_language = languages_.source, prompted_options_.target_language = languages_.target;
  prompted_ = std::make_unique<const search::PromptedText>(model, tokenizer_, std::move(prompt));
  prompted_->check(prompted_options_, options.decoding.search);
}

std::int32_t PairEncoder::start() const {
  return search::decoder_start(*model_, *tokenizer_, languages_.target);
}

PairEncoder::Ids PairEncoder::ids_of(const Pair& pair) const {
  if (prompted_) return prompted_ids(pair);
  target_language_.check_tag(pair.source, pair.source_where);
  Ids ids;
  ids.source =
      framed_ids(prepend_language_tag(languages_.prefix, pair.source), pair.source_where, Side::source, ids.unknown);
  ids.target = framed_ids(pair.target, pair.target_where, Side::target, ids.unknown);
  return ids;
}

std::vector<std::int32_t> PairEncoder::framed_ids(const std::string& text, const std::string& where, Side side,
                                                  std::int64_t& unknown) const {
  std::vector<std::int32_t> ids = tokenizer_->encode(text, side);
  unknown += count_unknown(*tokenizer_, text, ids, side);
  put_into_frame(ids, frames_.at(side == Side::target ? 1 : 0));
  const std::int64_t positions = model_->max_positions();
  check(positions == 0 || std::ssize(ids) <= positions, where, "has {} tokens, but the model has {} positions",
        ids.size(), positions);
  return ids;
}

// The prompt for a source as the source, and the translation after it as the target.
PairEncoder::Ids PairEncoder::prompted_ids(const Pair& pair) const {
  const auto [ids, prompt] = prompted_->given_translation(pair.source, pair.target, prompted_options_, eos_ids_);
  const std::int64_t positions = model_->max_positions();
  check(positions == 0 || std::ssize(ids) <= positions, pair.source_where,
        "has {} tokens with its prompt and its translation, but the model has {} positions", ids.size(), positions);
  const auto end = ids.begin() + static_cast<std::ptrdiff_t>(prompt);
  Ids result{{ids.begin(), end}, {end, ids.end()}, 0};
  result.unknown = count_unknown(*tokenizer_, pair.target, result.target, Side::target);
  return result;
}

}  // namespace tril
