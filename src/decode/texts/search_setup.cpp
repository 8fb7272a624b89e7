#include "decode/texts/search_setup.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "base/error.h"
#include "base/log.h"
#include "decode/texts/bad_words.h"
#include "search/resolve.h"

namespace tril::search {
namespace {

// Stops a model that does not end by itself: translations are about as long as their sources.
constexpr double default_max_length_factor = 3;

// Rejects a minimum length that no output can have.
void check_positions(const std::optional<std::int64_t>& least, const model::Model& m, std::string_view field) {
  check(!least || m.max_positions() == 0 || *least <= m.max_positions(), field, "{} is above the model's {} positions",
        least.value_or(0), m.max_positions());
}

// A maximum length below the model's positions is the publisher's choice; one equal to them is only the model's capacity.
bool wishes_length(const model::GenerationConfig& g, const model::Model& m) {
  return g.max_new_tokens || (g.max_length && (m.max_positions() == 0 || *g.max_length < m.max_positions()));
}

// As in `transformers`, the publisher's min_length and max_length count the decoder's start token and the prefix. The caller's
// options, and min_new_tokens and max_new_tokens, count neither.
void set_lengths(const SearchOptions& o, const model::GenerationConfig& g, const model::Model& m,
                 TranslatorOptions& t) {
  const auto without_start = [](std::optional<std::int64_t> length, std::int64_t least) {
    return length ? std::optional(std::max(least, *length - 1)) : std::nullopt;
  };
  const auto counted = [](bool by_option, bool is_new) {
    return by_option ? Counted::output : is_new ? Counted::first : Counted::all;
  };
  const std::int64_t published_max = g.max_new_tokens.value_or(without_start(g.max_length, 1).value_or(512));
  const std::int64_t published_min = g.min_new_tokens.value_or(without_start(g.min_length, 0).value_or(0));
  check_positions(o.min_length, m, "min_length");
  if (!o.min_length && m.max_positions() > 0 && published_min > m.max_positions())
    logger()->warn("{}: asks for at least {} tokens, but the model has {} positions", g.where, published_min,
                   m.max_positions());
  t.min_length = static_cast<std::int32_t>(o.min_length.value_or(published_min));
  t.min_counts = counted(o.min_length.has_value(), g.min_new_tokens.has_value());
  t.min_raises_max = o.min_length || !(g.max_length || g.max_new_tokens);
  if (!o.min_length && !o.max_length && !t.min_raises_max && published_min > published_max) {
    logger()->warn("{}: asks for at least {} tokens and at most {}: using {}", g.where, published_min, published_max,
                   published_max);
    t.min_length = static_cast<std::int32_t>(published_max);
  }
  t.max_length =
      static_cast<std::int32_t>(o.max_length.value_or(std::max<std::int64_t>({published_max, t.min_length, 1})));
  t.max_counts = counted(o.max_length || !(g.max_new_tokens || g.max_length), g.max_new_tokens.has_value());
  check(t.min_length <= t.max_length, "min_length", "{} is above the longest output of {}", t.min_length, t.max_length);
  // A language model's directory limits conversations, not translations.
  const bool wishes = m.has_encoder() && wishes_length(g, m);
  t.max_length_factor = o.max_length_factor.value_or(wishes ? 0 : default_max_length_factor);
}

// True if the publisher's beam groups divide the beam.
bool groups_divide(const model::GenerationConfig& g, const SearchOptions& both) {
  return both.beam_size.value_or(1) % g.search.beam_groups.value_or(1) == 0;
}

}  // namespace

std::vector<std::int32_t> end_tokens(const model::GenerationConfig& published, const model::Model& model) {
  if (!published.eos_token_ids.empty() || model.special_ids().eos < 0) return published.eos_token_ids;
  return {model.special_ids().eos};
}

SearchOptions combined(SearchOptions asked, const model::GenerationConfig& g) {
  settle_sampling(asked);
  SearchOptions both = overlay(g.search, asked);
  if (!asked.beam_groups && !groups_divide(g, both)) both.beam_groups.reset();
  return both;
}

SearchPlan search_plan(const SearchOptions& asked, const model::GenerationConfig& g, const model::Model& m,
                       const Tokenizer& tokenizer) {
  model::check_ids(g, m.vocab_size());
  SearchPlan known;
  known.eos_ids = end_tokens(g, m);
  known.forced_bos_id = g.forced_bos_token_id.value_or(-1);
  known.forced_eos_id = g.forced_eos_token_id.value_or(-1);
  known.suppress_ids = g.suppress_tokens;
  known.begin_suppress_ids = g.begin_suppress_tokens;
  known.renormalize = g.renormalize_logits;
  known.bad_words = g.bad_words_ids;
  for (const std::string& text : asked.bad_words) forbid(text, tokenizer, "bad_words", known.bad_words);
  const SearchOptions both = combined(asked, g);
  if (!asked.beam_groups && both.beam_size.value_or(1) > 1 && !groups_divide(g, both))
    logger()->warn("{}: asks for {} groups, which do not divide a beam of {}: using one group", g.where,
                   *g.search.beam_groups, both.beam_size.value_or(1));
  return resolve(both, std::move(known));
}

TranslatorOptions translator_options(const SearchOptions& asked, const model::GenerationConfig& g,
                                     const model::Model& m, const Tokenizer& tokenizer) {
  TranslatorOptions t;
  t.decoding.search = search_plan(asked, g, m, tokenizer);
  set_lengths(asked, g, m, t);
  return t;
}

GeneratorOptions generator_options(const SearchOptions& asked, const model::GenerationConfig& g, const model::Model& m,
                                   const Tokenizer& tokenizer) {
  GeneratorOptions t;
  t.decoding.search = search_plan(asked, g, m, tokenizer);
  const auto narrow = [](std::optional<std::int64_t> n) {
    return n ? std::optional(static_cast<std::int32_t>(*n)) : std::nullopt;
  };
  t.max_new_tokens = narrow(asked.max_new_tokens ? asked.max_new_tokens : g.max_new_tokens);
  if (t.max_new_tokens == 0) t.max_new_tokens.reset();  // 0 would mean no text at all
  t.max_length = narrow(g.max_length);
  t.min_new_tokens = narrow(asked.min_new_tokens ? asked.min_new_tokens : g.min_new_tokens);
  t.min_length = narrow(g.min_length).value_or(0);
  check_positions(asked.min_new_tokens, m, "min_new_tokens");
  if (asked.max_new_tokens && asked.min_new_tokens)
    check(*asked.min_new_tokens <= *asked.max_new_tokens, "min_new_tokens", "{} is above `max_new_tokens` {}",
          *asked.min_new_tokens, *asked.max_new_tokens);
  for (const std::string& stop : asked.stops)
    check(!stop.empty(), "stop", "an empty stop string would end every text at once");
  t.stops = asked.stops;
  return t;
}

}  // namespace tril::search
