// How a request wants to be searched for: fields that translations and continuations share, and what they make of the
// options that the model is served with.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"
#include "search/options.h"
#include "tokenizer/files/tokenizer.h"

namespace tril::serve {

struct SearchRequest {
  std::optional<std::int64_t> beam_size, beam_groups, top_k, no_repeat_ngram;
  std::optional<double> length_penalty, patience, diversity_penalty;
  std::optional<std::string> early_stopping;
  std::optional<double> temperature, top_p, min_p, typical_p;
  std::optional<std::int64_t> seed;
  std::optional<double> repetition_penalty, presence_penalty, frequency_penalty, coverage_penalty;
  std::vector<std::string> bad_words;
  bool branch = false;
  std::optional<double> min_branch_probability;
};

/// Of a model that translates, with those that only it has.
void add_search_fields(Fields& f, SearchRequest& r, bool translates);

/// @param n  hypotheses wanted
/// @throws Error(usage), or HttpError, where they contradict each other
search::SearchOptions search_options(const SearchRequest& r, const search::SearchOptions& served, std::int64_t n,
                                     const Tokenizer& tokenizer);

}  // namespace tril::serve
