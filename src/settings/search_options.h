// The options of a search, declared once: names, limits, help. The command line, YAML files, JSON requests, the API
// description and docs/options.md are generated from these fields, and every check of a value uses the limits here.
//
// The model's publisher, the server's operator and each request fill in one such struct each. A request's values
// override the server's, which override the publisher's: overlay(overlay(published, served), requested).
// search/resolve.h turns the result into a SearchPlan.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"

namespace tril {

/// Limits of the values.
namespace limits {
inline constexpr Range beam_size{1, 1000};
/// Beyond these, powers of the longest outputs overflow.
inline constexpr Range length_penalty{-50, 50};
inline constexpr Range patience{0, 1000, Range::Least::excluded};
inline constexpr Range diversity_penalty{0, 1000};
inline constexpr Range coverage_penalty{0, 1000};
inline constexpr Range probability{0, 1};
inline constexpr Range temperature{0, 1000};
inline constexpr Range top_k{-1, 1e9};
inline constexpr Range typical_p{0, 1, Range::Least::excluded};
inline constexpr Range repetition_penalty{0, 1000, Range::Least::excluded};
inline constexpr Range token_penalty{-1000, 1000};
inline constexpr Range ngram{0, 1e6};
inline constexpr Range time_limit{0, 1e9};  ///< seconds
inline constexpr Range tokens{0, 1e6};
inline constexpr Range some_tokens{1, 1e6};
}  // namespace limits

struct SearchOptions {
  std::int64_t n_best = 1;  ///< number of hypotheses or samples per text

  std::optional<std::int64_t> beam_size, beam_groups;
  std::optional<double> length_penalty, patience, diversity_penalty, coverage_penalty;
  std::optional<std::string> early_stopping;  ///< "false", "true" or "never"
  /// The best hypothesis after each of the likeliest first tokens, instead of the best ones.
  std::optional<bool> alternatives;
  std::optional<double> min_alternative_prob;

  std::optional<bool> sampling;  ///< unset: determined by the fields below (settle_sampling)
  std::optional<double> temperature, top_p, min_p, typical_p;
  std::optional<std::int64_t> top_k;  ///< 0 and -1: no limit
  std::optional<std::int64_t> seed;

  std::optional<double> repetition_penalty, presence_penalty, frequency_penalty;
  std::optional<std::int64_t> no_repeat_ngram, encoder_no_repeat_ngram;
  std::vector<std::string> bad_words;
  double time_limit = 0;  ///< seconds from a text's first step; 0: none

  /// For translations: tokens of output; the end token counts towards the maximum.
  std::optional<std::int64_t> min_length, max_length;
  std::optional<double> max_length_factor;
  /// For continuations: tokens after the prompt.
  std::optional<std::int64_t> min_new_tokens, max_new_tokens;
  std::vector<std::string> stops;

  /// The first field that restricts sampling ("top_k"); "" if none does.
  std::string_view narrows() const;
  /// True if hypotheses compete: a beam of more than one, or alternatives.
  bool asks_for_beam() const { return beam_size.value_or(1) > 1 || alternatives.value_or(false); }
};

/// Sets `sampling` if one source's options imply it: a temperature above 0 or a field that restricts sampling turns
/// it on; temperature 0 and a beam turn it off.
/// @throws Error(usage) if they ask for both
void settle_sampling(SearchOptions& options);

/// The values of `upper`, and those of `lower` where `upper` sets none. If `upper` chooses between sampling and
/// beam search, options of `lower` for the other method are dropped; so are its beam groups if they do not divide
/// `upper`'s beam. Both must have been settled (settle_sampling).
SearchOptions overlay(SearchOptions lower, const SearchOptions& upper);

/// The end of a field's help: the value used if it is unset. `fallback` is the value if nobody sets it.
using UnsetText = std::function<std::string(std::string_view field, std::string_view fallback)>;

/// The fields of a beam search.
void add_beam_fields(Fields& f, SearchOptions& o, const UnsetText& unset);
/// Alternatives, under the names of the caller's interface.
void add_alternative_fields(Fields& f, SearchOptions& o, std::string name, std::string probability);
void add_coverage_field(Fields& f, SearchOptions& o);
/// The fields of sampling.
void add_sampling_fields(Fields& f, SearchOptions& o, const UnsetText& unset);
/// The fields of penalties and forbidden tokens.
void add_penalty_fields(Fields& f, SearchOptions& o, const UnsetText& unset);
/// The length of a translation.
void add_length_fields(Fields& f, SearchOptions& o, const UnsetText& unset);
/// The length of a continuation, and what ends it.
void add_new_token_fields(Fields& f, SearchOptions& o, const UnsetText& unset);

}  // namespace tril
