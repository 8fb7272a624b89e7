#include "search/translator.h"

#include <algorithm>
#include <cmath>

namespace tril::search {

std::vector<std::int32_t> source_ids(const Tokenizer& tokenizer, const std::string& text, std::int64_t max_positions,
                                     bool& cut) {
  std::vector<std::int32_t> ids = tokenizer.encode(text, Side::source);
  cut = max_positions > 0 && static_cast<std::int64_t>(ids.size()) >= max_positions;
  if (cut) ids.resize(static_cast<std::size_t>(max_positions) - 1);
  ids.push_back(tokenizer.special(Side::source).eos);
  return ids;
}

void check_tokenizer(const model::Model& model, const Tokenizer& tokenizer) {
  if (!model.has_encoder())
    fail_usage("translation", fmt::format("a {} model continues text, it does not translate", model.family()),
               "use `tril generate`");
  check(tokenizer.size(Side::source) <= model.source_vocab_size(), "tokenizer",
        "its {} source ids do not fit the model's vocabulary of {}", tokenizer.size(Side::source),
        model.source_vocab_size());
  check(tokenizer.special(Side::source).eos >= 0 && tokenizer.special(Side::target).eos >= 0, "tokenizer",
        "it has no end-of-sentence id");
}

namespace {

// Rows of the output that the tokenizer has no piece for (tables are padded to round sizes) never come.
ParallelOptions without_strangers(ParallelOptions o, const model::Model& model, const Tokenizer& tokenizer) {
  for (std::int64_t id = tokenizer.size(Side::target); id < model.vocab_size(); ++id)
    o.search.suppress_ids.push_back(static_cast<std::int32_t>(id));
  return o;
}

}  // namespace

Translator::Translator(const model::Model& model, std::shared_ptr<const Tokenizer> tokenizer, TranslatorOptions options)
    : model_(&model),
      tokenizer_(std::move(tokenizer)),
      options_(std::move(options)),
      decoder_(model, without_strangers(options_.decoding, model, *tokenizer_)) {
  check_tokenizer(model, *tokenizer_);
  check(model.special_ids().decoder_start >= 0, "translation", "the model does not say what its decoder starts with",
        "set decoder_start_token_id in config.json");
  check(options_.max_length >= 1, "maximum length", "expected at least 1, got {}", options_.max_length);
  check(options_.min_length >= 0, "minimum length", "expected at least 0, got {}", options_.min_length);
  check(options_.max_length_factor >= 0, "maximum length factor", "expected at least 0, got {}",
        options_.max_length_factor);
}

Request Translator::request_for(std::int64_t source_tokens, std::uint64_t number) const {
  std::int64_t longest = options_.max_length;
  if (options_.max_length_factor > 0) {
    const double bound = std::ceil(options_.max_length_factor * static_cast<double>(source_tokens)) + 20;
    longest = std::min(longest, static_cast<std::int64_t>(std::min(bound, 1e9)));
  }
  longest = std::max<std::int64_t>(longest, options_.min_length);
  if (model_->max_positions() > 0) longest = std::min(longest, model_->max_positions());
  const std::int64_t least = std::min<std::int64_t>(options_.min_length, longest);
  return {.start_id = model_->special_ids().decoder_start,
          .min_length = static_cast<std::int32_t>(least),
          .max_length = static_cast<std::int32_t>(longest),
          .number = number};
}

std::vector<std::vector<Translation>> Translator::translate(std::span<const std::string> texts) {
  std::vector<std::vector<std::int32_t>> sources;
  std::vector<Request> requests;
  std::vector<std::size_t> places;  // of each source among the texts
  for (std::size_t i = 0; i < texts.size(); ++i) {
    bool cut = false;
    std::vector<std::int32_t> ids = source_ids(*tokenizer_, texts[i], model_->max_positions(), cut);
    if (ids.size() == 1) continue;  // nothing but EOS
    truncated_ += cut ? 1 : 0;
    requests.push_back(request_for(static_cast<std::int64_t>(ids.size()) - 1, texts_ + i));
    sources.push_back(std::move(ids));
    places.push_back(i);
  }

  texts_ += texts.size();
  const auto found = decoder_.decode(sources, requests);
  std::vector<std::vector<Translation>> results(texts.size(), std::vector<Translation>(1));
  for (std::size_t s = 0; s < found.size(); ++s) {
    std::vector<Translation>& list = results[places[s]];
    list.clear();
    for (const Hypothesis& h : found[s]) {
      target_tokens_ += static_cast<std::int64_t>(h.tokens.size());
      list.push_back({tokenizer_->decode(h.tokens, Side::target), h.tokens, h.log_prob, h.score});
    }
  }
  return results;
}

}  // namespace tril::search
