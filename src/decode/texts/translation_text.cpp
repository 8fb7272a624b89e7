#include "decode/texts/translation_text.h"

#include <algorithm>
#include <cmath>

#include "corpus/alignment.h"
#include "decode/texts/mbr.h"
#include "decode/texts/piece_kinds.h"
#include "tokenizer/files/sentence_frame.h"
#include "unicode/trim.h"

namespace tril::search {

std::vector<std::int32_t> source_ids(const Tokenizer& tokenizer, const std::string& text, std::int64_t max_positions,
                                     bool& cut, std::string_view language) {
  std::vector<std::int32_t> ids = tokenizer.encode(text, Side::source);
  cut = put_into_frame(ids, sentence_frame(tokenizer, Side::source, language), max_positions);
  return ids;
}

bool starts_with_language(const model::Model& model, const Tokenizer& tokenizer) {
  const std::vector<std::string> all = tokenizer.languages();
  return std::any_of(all.begin(), all.end(), [&](const std::string& code) {
    return tokenizer.language_id(code) == model.special_ids().decoder_start;
  });
}

void check_tokenizer(const model::Model& model, const Tokenizer& tokenizer) {
  if (!model.has_encoder())
    fail_usage("translation", fmt::format("a {} model continues text and does not translate", model.family()),
               "use `tril generate`");
  if (tokenizer.size(Side::source) > model.source_vocab_size())
    fail("tokenizer", fmt::format("its {} source ids do not fit the model's vocabulary of {}",
                                  tokenizer.size(Side::source), model.source_vocab_size()));
  if (tokenizer.special(Side::source).eos < 0 || tokenizer.special(Side::target).eos < 0)
    fail(tokenizer.where(), "neither it nor a file next to it defines the end token",
         "set it in the directory's tokenizer_config.json, as in {\"eos_token\": \"</s>\"}");
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

}  // namespace

bool ends_in_space(std::string_view text) {
  return trim(text).data() + trim(text).size() != text.data() + text.size();
}

SearchPlan with_vocabulary(SearchPlan o, const model::Model& model, const Tokenizer& tokenizer) {
  for (std::int64_t id = tokenizer.size(Side::target); id < model.vocab_size(); ++id)
    o.suppress_ids.push_back(static_cast<std::int32_t>(id));
  for (PieceKind kind : piece_kinds(tokenizer, Side::target))
    o.begins_word.push_back(kind == PieceKind::begins_word),
        o.continues_word.push_back(kind == PieceKind::continues_word);
  o.begins_word.resize(model.vocab_size(), false);
  o.continues_word.resize(o.begins_word.size(), false);
  return o;
}

void EncodedText::check(const TextOptions& o, const SearchPlan& search) const {
  using tril::check;
  check(o.max_length >= 1, "maximum length", "expected at least 1, got {}", o.max_length);
  check(o.min_length >= 0, "minimum length", "expected at least 0, got {}", o.min_length);
  check(!o.terminology || search.has_beam(), "terminology", "needs beam search, but the beam size is {}",
        search.beam_size);
  check(!o.replace_unknowns || search.attention, "unknown words",
        "replacing them needs attention weights, which are not recorded");
  check(o.max_length_factor >= 0, "maximum length factor", "expected at least 0, got {}", o.max_length_factor);
  const auto refuse = [&](bool given, const char* field) {
    if (given)
      fail_usage(field, fmt::format("is for the prompt of a language model, and a {} model has none", model().family()),
                 "leave it out");
  };
  refuse(o.context > 0, "context");
  refuse(!o.style.empty(), "style");
}

std::int32_t decoder_start(const model::Model& model, const Tokenizer& tokenizer, std::string_view target_language) {
  return !target_language.empty() && starts_with_language(model, tokenizer) ? tokenizer.language_id(target_language)
                                                                            : model.special_ids().decoder_start;
}

EncodedText::EncodedText(const model::Model& model, std::shared_ptr<const Tokenizer> tokenizer)
    : TranslationText(model, std::move(tokenizer)) {
  check_tokenizer(model, this->tokenizer());
  if (model.special_ids().decoder_start < 0)
    fail("translation", "the model does not define its decoder start token",
         "set decoder_start_token_id in config.json");
  starts_with_language_ = starts_with_language(model, this->tokenizer());
}

Request EncodedText::request_for(std::int64_t source_tokens, TextToTranslate& t, std::uint64_t number,
                                 const TextOptions& options, const SearchPlan& search) const {
  const std::string& prefix = t.prefix;
  Request request{.start_id = model().special_ids().decoder_start, .number = number};
  if (!options.target_language.empty())
    (starts_with_language_ ? request.start_id : request.forced_first) =
        tokenizer().language_id(options.target_language);
  // A forced first token is generated, except with a prefix: then it is given, before the prefix.
  const std::int32_t first = prefix.empty() ? -1 : forced_first(request, search.forced_bos_id);
  if (!prefix.empty()) {
    request.forced_first = -1;
    if (first >= 0) request.prefix.push_back(first);
    tokenizer().encode(prefix, Side::target, request.prefix);
    request.new_word = ends_in_space(prefix);
  }
  const auto without_given = [&](std::int64_t length, Counted counted) {
    const std::int64_t language = first >= 0 ? 1 : 0, all = std::ssize(request.prefix);
    return length - (counted == Counted::all ? all : counted == Counted::first ? language : 0);
  };
  std::int64_t least = std::max<std::int64_t>(0, without_given(options.min_length, options.min_counts));
  std::int64_t longest = std::max<std::int64_t>(1, without_given(options.max_length, options.max_counts));
  if (!options.min_raises_max) least = std::min(least, longest);
  if (options.max_length_factor > 0) {
    const double bound = std::ceil(options.max_length_factor * static_cast<double>(source_tokens)) + 20;
    t.by_factor = bound < static_cast<double>(longest) && bound > static_cast<double>(least);
    longest = std::min(longest, static_cast<std::int64_t>(std::min(bound, 1e9)));
  }
  longest = std::max(longest, least);
  if (const std::int64_t positions = model().max_positions(); positions > 0) {
    const auto given = std::ssize(request.prefix);
    tril::check(given < positions, fmt::format("prefix {}", number + 1),
                "its {} tokens fill all of the model's {} positions", given, positions);
    t.by_factor = t.by_factor && longest <= positions - given;
    longest = std::min(longest, positions - given);
  }
  request.max_length = static_cast<std::int32_t>(longest);
  request.min_length = static_cast<std::int32_t>(std::min(least, longest));
  return request;
}

TextToTranslate EncodedText::prepare(TextInput input, std::uint64_t number, const TextOptions& options,
                                     const SearchPlan& search) const {
  TextToTranslate t{
      .text = std::move(input.text), .prefix = std::move(input.prefix), .source = {}, .request = {}, .terms = {}};
  t.source = tokenizer().encode(t.text, Side::source);
  t.blank = t.source.empty();
  t.recalled = recalled(t, options);
  const std::string own = options.source_of && !t.blank ? options.source_of(t.text) : "";
  const TextFrame frame = sentence_frame(tokenizer(), Side::source, own.empty() ? options.source_language : own);
  t.truncated = put_into_frame(t.source, frame, model().max_positions());
  if (t.is_empty()) return t;
  const std::int64_t around = std::ssize(frame.prefix) + std::ssize(frame.suffix);
  t.request = request_for(std::ssize(t.source) - around, t, number, options, search);
  if (search.encoder_no_repeat_ngram > 0) t.request.source = t.source;
  t.forced_end = search.forced_eos_id >= 0;
  const std::int32_t unk = tokenizer().special(Side::target).unk;
  t.unknown = count_unknown(tokenizer(), t.text, t.source, Side::source) +
              count_unknown(tokenizer(), t.prefix, t.request.prefix, Side::target);
  if (options.terminology)  // only terms in the part that is read
    t.terms = options.terminology->find(t.truncated ? tokenizer().decode(t.source, Side::source) : t.text);
  for (const Term& term : t.terms) {
    std::vector<std::int32_t> phrase = tokenizer().encode(term.target, Side::target);
    if (std::find(phrase.begin(), phrase.end(), unk) == phrase.end()) t.request.phrases.push_back(std::move(phrase));
  }
  return t;
}

// The prefix is returned as it was given, not as the tokenizer normalises it.
std::string EncodedText::text_of(std::span<const std::int32_t> tokens, std::span<const float> attention,
                                 const TextToTranslate& t) const {
  const auto decoded = [&](std::span<const std::int32_t> ids, std::span<const float> weights) {
    if (attention.empty()) return tokenizer().decode(ids, Side::target);
    return decode_replacing_unknowns(ids, weights, t.text, t.source, tokenizer());
  };
  if (t.prefix.empty()) return decoded(tokens, attention);
  std::vector<std::int32_t> ids = t.request.prefix;
  std::vector<float> weights(ids.size() * t.source.size(), 0.0f);  // given tokens have no attention
  const std::string given = decoded(ids, weights);
  ids.insert(ids.end(), tokens.begin(), tokens.end());
  weights.insert(weights.end(), attention.begin(), attention.end());
  std::string text = decoded(ids, weights);
  if (!text.starts_with(given)) return text;  // clean-up changed the prefix
  std::string_view rest = std::string_view(text).substr(given.size());
  if (ends_in_space(t.prefix) && rest.starts_with(' ')) rest.remove_prefix(1);
  return t.prefix + std::string(rest);
}

std::int64_t EncodedText::positions_of(const TextInput& input, const TextOptions& options) const {
  const TextFrame frame = sentence_frame(tokenizer(), Side::source, options.source_language);
  return std::ssize(tokenizer().encode(input.text, Side::source)) + std::ssize(frame.prefix) + std::ssize(frame.suffix);
}

std::string EncodedText::partial(const TextToTranslate& t, std::span<const std::int32_t> tokens) const {
  return text_of(tokens, {}, t);
}

Translation EncodedText::translation(const TextToTranslate& t, const Hypothesis& h, const TextOptions& options) const {
  const std::span<const float> by =
      options.replace_unknowns ? std::span<const float>(h.attention) : std::span<const float>{};
  Translation one{text_of(h.tokens, by, t), h.tokens, h.log_prob, h.score, h.stop_reason};
  if (!h.attention.empty()) one.attention = h.attention, one.source = t.source;
  one.at_length = !is_cut(h.stop_reason) && static_cast<std::int32_t>(h.tokens.size()) == t.request.max_length &&
                  (t.forced_end || h.stop_reason != StopReason::end_token);
  return one;
}

std::optional<std::string> TranslationText::recalled(const TextToTranslate& t, const TextOptions& options) {
  return options.recall && !t.blank && t.prefix.empty() ? options.recall(t.text) : std::nullopt;
}

std::vector<Translation> TranslationText::finish(const TextToTranslate& t, std::span<const Hypothesis> hypotheses,
                                                 const TextOptions& options) const {
  std::vector<Translation> list;
  if (t.is_empty()) {
    list.push_back({.text = t.recalled ? *t.recalled : t.prefix, .recalled = t.recalled.has_value()});
    return list;
  }
  for (const Hypothesis& h : hypotheses) {
    list.push_back(translation(t, h, options));
    Translation& one = list.back();
    one.cut_by_factor = one.at_length && t.by_factor;
    one.terms = t.terms;
    one.unsatisfied = missing_terms(t.terms, one.text, *tokenizer_);
  }
  if (options.mbr_best > 0) list = least_risk(std::move(list), options.mbr_best);
  return list;
}

}  // namespace tril::search
