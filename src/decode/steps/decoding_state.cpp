#include "decode/steps/decoding_state.h"

#include <utility>

#include "decode/steps/make_step.h"

namespace tril::search {

DecodingState::DecodingState(Context& c, const model::Model& model, const DecodingStateOptions& options)
    : context_(&c), model_(&model), options_(options.cache), sources_(model) {
  check_options(options_);
  if (options_.use) cache_ = model.make_cache(c);
  if (!cache_) return;
  nn::KvCache::Options kept = options_.kept;
  if (options.beyond_window) kept.window = kept.sinks = 0;
  cache_->configure(kept);
  if (options.prefix_tokens > 0 && !model.has_encoder() && !cache_->keeps_states() && options_.kept.window == 0)
    prefixes_ = std::make_unique<PrefixCache>(*cache_, options.prefix_tokens);
}

void DecodingState::add(std::span<const std::int32_t> sentences, std::span<const std::vector<std::int32_t>> sources,
                        std::span<const std::int32_t> adapters, std::span<const IdList> shortlists) {
  for (std::size_t i = 0; i < adapters.size(); ++i) adapters_.set(sentences[i], adapters[i]);
  for (std::size_t i = 0; i < shortlists.size(); ++i) shortlists_.set(sentences[i], shortlists[i]);
  if (model_->has_encoder()) sources_.add(*context_, sources, sentences, adapters);
}

void DecodingState::remove(std::int32_t sentence) {
  sources_.remove(sentence);
  shortlists_.set(sentence, nullptr);
}

void DecodingState::drop_rows() {
  if (cache_) cache_->reorder({});
}

void DecodingState::drop_sentences() {
  drop_rows();
  sources_.clear();
  adapters_ = {};
  shortlists_ = {};
}

void DecodingState::clear() {
  if (prefixes_) prefixes_->clear();
  drop_sentences();
}

std::unique_ptr<Step> DecodingState::new_step(StepOptions o) {
  return make_step({.model = model_,
                    .sources = model_->has_encoder() ? &sources_ : nullptr,
                    .cache = cache_.get(),
                    .options = options_,
                    .prefixes = prefixes_.get(),
                    .adapters = &adapters_,
                    .shortlists = model_->has_encoder() ? &shortlists_ : nullptr,
                    .resumed = o.resumed,
                    .attention = std::move(o.attention)});
}

}  // namespace tril::search
