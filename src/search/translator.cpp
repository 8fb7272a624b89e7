#include "search/translator.h"

#include <algorithm>
#include <cmath>
#include <mutex>

#include "search/mbr.h"
#include "text/alignment.h"
#include "text/utf8.h"
#include "text/word_boundary.h"

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

// The `n` translations of the highest expected utility, best first, or as many different ones as there are.
std::vector<Translation> least_risk(std::vector<Translation> samples, std::size_t n) {
  std::vector<std::string> texts;
  for (const Translation& t : samples) texts.push_back(t.text);
  const std::vector<double> utilities = expected_utilities(texts);
  std::vector<Translation> best;
  for (const std::size_t i : by_utility(texts, utilities)) {
    if (best.size() == n) break;
    best.push_back(std::move(samples[i]));
    best.back().score = utilities[i];
  }
  return best;
}

// Rows of the output that the tokenizer has no piece for (tables are padded to round sizes) never come, and the search
// knows which ones begin a word.
ParallelOptions with_vocabulary(ParallelOptions o, const model::Model& model, const Tokenizer& tokenizer) {
  for (std::int64_t id = tokenizer.size(Side::target); id < model.vocab_size(); ++id)
    o.search.suppress_ids.push_back(static_cast<std::int32_t>(id));
  for (PieceKind kind : piece_kinds(tokenizer, Side::target))
    o.search.begins_word.push_back(kind == PieceKind::begins_word),
        o.search.continues_word.push_back(kind == PieceKind::continues_word);
  o.search.begins_word.resize(static_cast<std::size_t>(model.vocab_size()), false);
  o.search.continues_word.resize(o.search.begins_word.size(), false);
  return o;
}

bool ends_in_space(std::string_view text) {
  return trim(text).data() + trim(text).size() != text.data() + text.size();
}

}  // namespace

Translator::Translator(const model::Model& model, std::shared_ptr<const Tokenizer> tokenizer, TranslatorOptions options)
    : model_(&model),
      tokenizer_(std::move(tokenizer)),
      options_(std::move(options)),
      decoder_(model, with_vocabulary(options_.decoding, model, *tokenizer_)) {
  check_tokenizer(model, *tokenizer_);
  check(model.special_ids().decoder_start >= 0, "translation", "the model does not say what its decoder starts with",
        "set decoder_start_token_id in config.json");
  check(options_.max_length >= 1, "maximum length", "expected at least 1, got {}", options_.max_length);
  check(options_.min_length >= 0, "minimum length", "expected at least 0, got {}", options_.min_length);
  check(!options_.terminology || options_.decoding.search.has_beam(), "terminology",
        "only a beam search can say where a phrase belongs, the beam size is {}", options_.decoding.search.beam_size);
  check(!options_.replace_unknowns || options_.decoding.search.attention.on, "unknown words",
        "they are replaced by attention, which is not kept");
  check(options_.max_length_factor >= 0, "maximum length factor", "expected at least 0, got {}",
        options_.max_length_factor);
}

Request Translator::request_for(std::int64_t source_tokens, const std::string& prefix, std::uint64_t number) const {
  Request request{.start_id = model_->special_ids().decoder_start, .number = number};
  if (!prefix.empty()) {
    if (const std::int32_t bos = options_.decoding.search.forced_bos_id; bos >= 0) request.prefix.push_back(bos);
    tokenizer_->encode(prefix, Side::target, request.prefix);
    request.new_word = ends_in_space(prefix);
  }
  std::int64_t longest = options_.max_length;
  if (options_.max_length_factor > 0) {
    const double bound = std::ceil(options_.max_length_factor * static_cast<double>(source_tokens)) + 20;
    longest = std::min(longest, static_cast<std::int64_t>(std::min(bound, 1e9)));
  }
  longest = std::max<std::int64_t>(longest, options_.min_length);
  if (const std::int64_t positions = model_->max_positions(); positions > 0) {
    const auto given = static_cast<std::int64_t>(request.prefix.size());
    check(given < positions, fmt::format("prefix {}", number + 1),
          "its {} tokens leave none of the model's {} positions free", given, positions);
    longest = std::min(longest, positions - given);
  }
  request.max_length = static_cast<std::int32_t>(longest);
  request.min_length = static_cast<std::int32_t>(std::min<std::int64_t>(options_.min_length, longest));
  return request;
}

// A prefix stays as it was given, whatever normalisation makes of it.
std::string Translator::text_of(std::span<const std::int32_t> tokens, std::span<const float> attention,
                                const Given& g) const {
  const std::string& prefix = g.prefix;
  const auto decoded = [&](std::span<const std::int32_t> ids, std::span<const float> weights) {
    if (!options_.replace_unknowns || attention.empty()) return tokenizer_->decode(ids, Side::target);
    return decode_replacing_unknowns(ids, weights, g.text, g.source, *tokenizer_);
  };
  if (prefix.empty()) return decoded(tokens, attention);
  std::vector<std::int32_t> ids = g.request.prefix;
  std::vector<float> weights(ids.size() * g.source.size(), 0.0f);  // what is given looks at nothing
  const std::string given = decoded(ids, weights);
  ids.insert(ids.end(), tokens.begin(), tokens.end());
  weights.insert(weights.end(), attention.begin(), attention.end());
  const std::string text = decoded(ids, weights);
  if (!text.starts_with(given)) return text;  // clean-up reached into it
  std::string_view rest = std::string_view(text).substr(given.size());
  if (ends_in_space(prefix) && rest.starts_with(' ')) rest.remove_prefix(1);
  return prefix + std::string(rest);
}

std::vector<std::vector<Translation>> Translator::translate(std::span<const std::string> texts,
                                                            std::span<const std::string> prefixes,
                                                            const TranslationWatch& watch) {
  check(prefixes.empty() || prefixes.size() == texts.size(), "translation", "{} prefixes for {} texts", prefixes.size(),
        texts.size());
  const auto prefix_of = [&](std::size_t i) { return prefixes.empty() ? std::string() : prefixes[i]; };
  const std::int32_t unk = tokenizer_->special(Side::target).unk;
  std::vector<std::vector<Translation>> results(texts.size());
  std::vector<std::vector<std::int32_t>> sources;
  std::vector<Request> requests;
  std::vector<std::vector<Term>> terms;
  std::vector<std::size_t> places;  // of each source among the texts
  for (std::size_t i = 0; i < texts.size(); ++i) {
    bool cut = false;
    std::vector<std::int32_t> ids = source_ids(*tokenizer_, texts[i], model_->max_positions(), cut);
    if (ids.size() == 1) {  // nothing but EOS
      results[i].push_back({.text = prefix_of(i)});
      continue;
    }
    truncated_ += cut ? 1 : 0;
    requests.push_back(request_for(static_cast<std::int64_t>(ids.size()) - 1, prefix_of(i), texts_ + i));
    unknown_ += std::count(requests.back().prefix.begin(), requests.back().prefix.end(), unk);
    terms.push_back(options_.terminology ? options_.terminology->find(texts[i]) : std::vector<Term>{});
    for (const Term& term : terms.back()) {
      std::vector<std::int32_t> phrase = tokenizer_->encode(term.target, Side::target);
      if (std::find(phrase.begin(), phrase.end(), unk) == phrase.end()) requests.back().phrases.push_back(phrase);
    }
    sources.push_back(std::move(ids));
    places.push_back(i);
  }
  texts_ += texts.size();

  const auto given = [&](std::size_t s) {
    return Given{requests[s], prefix_of(places[s]), texts[places[s]], sources[s]};
  };
  std::mutex mutex;
  Watch tokens{.stop = watch.stop};
  if (watch.on_partial)
    tokens.on_partial = [&](const Partial& p) {
      const std::string text = text_of(p.tokens, {}, given(p.request));
      const std::lock_guard lock(mutex);
      watch.on_partial(places[p.request], text);
    };
  const auto found = decoder_.decode(sources, requests, tokens);
  for (std::size_t s = 0; s < found.size(); ++s) {
    std::vector<Translation>& list = results[places[s]];
    for (const Hypothesis& h : found[s]) {
      target_tokens_ += static_cast<std::int64_t>(h.tokens.size());
      Translation t{text_of(h.tokens, h.attention, given(s)), h.tokens, h.log_prob, h.score, h.cut};
      if (!h.attention.empty()) t.attention = h.attention, t.source = sources[s];
      t.unsatisfied = missing_terms(terms[s], t.text, *tokenizer_);
      list.push_back(std::move(t));
    }
    if (options_.mbr_best > 0) list = least_risk(std::move(list), static_cast<std::size_t>(options_.mbr_best));
  }
  return results;
}

}  // namespace tril::search
