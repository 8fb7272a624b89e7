#include "decode/texts/translator.h"

#include <algorithm>
#include <mutex>

#include "unicode/trim.h"

namespace tril::search {
namespace {

ParallelOptions with_vocabulary(ParallelOptions o, const model::Model& model, const Tokenizer& tokenizer) {
  o.search = search::with_vocabulary(std::move(o.search), model, tokenizer);
  return o;
}

}  // namespace

Translator::Translator(const model::Model& model, std::shared_ptr<const Tokenizer> tokenizer, TranslatorOptions options)
    : Translator(std::make_unique<const EncodedText>(model, std::move(tokenizer)), std::move(options)) {}

Translator::Translator(std::unique_ptr<const TranslationText> text, TranslatorOptions options)
    : text_(std::move(text)),
      options_(std::move(options)),
      decoder_(text_->model(), with_vocabulary(options_.decoding, text_->model(), text_->tokenizer())) {
  text_->check(options_, options_.decoding.search);
}

void Translator::go_to(std::uint64_t number) {
  if (number != texts_) earlier_.clear();
  texts_ = number;
}

void Translator::continue_after(std::span<const std::string> texts) {
  earlier_.clear();
  earlier_ = context_of(texts, texts.size());
  texts_ = texts.size();
}

// The texts before a text, except blank ones.
std::vector<std::string> Translator::context_of(std::span<const std::string> texts, std::size_t text) const {
  const auto most = static_cast<std::size_t>(options_.context);
  std::vector<std::string> last_first;
  while (last_first.size() < most && text > 0)
    if (!trim(texts[--text]).empty()) last_first.push_back(texts[text]);
  for (std::size_t i = earlier_.size(); last_first.size() < most && i > 0;) last_first.push_back(earlier_[--i]);
  return {last_first.rbegin(), last_first.rend()};
}

std::vector<std::vector<Translation>> Translator::translate(std::span<const std::string> texts,
                                                            std::span<const std::string> prefixes,
                                                            const TranslationWatch& watch,
                                                            std::span<const std::uint64_t> numbers) {
  check(prefixes.empty() || prefixes.size() == texts.size(), "translation", "{} prefixes for {} texts", prefixes.size(),
        texts.size());
  check(numbers.empty() || numbers.size() == texts.size(), "translation", "{} numbers for {} texts", numbers.size(),
        texts.size());
  std::vector<TextToTranslate> all;
  std::vector<std::vector<std::int32_t>> sources;
  std::vector<Request> requests;
  std::vector<std::size_t> places;  // the text index of each source
  for (std::size_t i = 0; i < texts.size(); ++i) {
    all.push_back(text_->prepare(
        {.text = texts[i], .prefix = prefixes.empty() ? std::string() : prefixes[i], .context = context_of(texts, i)},
        numbers.empty() ? texts_ + i : numbers[i], options_, options_.decoding.search));
    const TextToTranslate& t = all.back();
    if (t.is_empty()) continue;
    truncated_ += t.truncated ? 1 : 0;
    unknown_ += t.unknown;
    if (text_->model().has_encoder()) sources.push_back(t.source);
    requests.push_back(t.request);
    places.push_back(i);
  }
  texts_ += texts.size();
  if (options_.context > 0) earlier_ = context_of(texts, texts.size());

  std::mutex mutex;
  Watch tokens{.stop = watch.stop};
  if (watch.on_partial)
    tokens.on_partial = [&](const Partial& p) {
      const std::string text = text_->partial(all[places[p.request]], p.tokens);
      const std::lock_guard lock(mutex);
      watch.on_partial(places[p.request], text);
    };
  const auto found = decoder_.decode(sources, requests, tokens);
  std::vector<std::vector<Translation>> results(texts.size());
  for (std::size_t s = 0; s < found.size(); ++s) {
    for (const Hypothesis& h : found[s]) target_tokens_ += std::ssize(h.tokens);
    results[places[s]] = text_->finish(all[places[s]], found[s], options_);
  }
  for (std::size_t i = 0; i < texts.size(); ++i)
    if (all[i].is_empty()) results[i] = text_->finish(all[i], {}, options_);
  return results;
}

}  // namespace tril::search
