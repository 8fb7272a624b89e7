// The search of one text, watched: everything that it considered as a tree (search/search_tree.h), and what it chose.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <stop_token>
#include <string>
#include <vector>

#include "decode/batches/session_options.h"
#include "search/search_tree.h"
#include "trace/text.h"

namespace tril::trace {

struct SearchQuestion {
  std::vector<std::int32_t> source;  ///< what the encoder reads; a language model: none
  search::Request request;
  search::SearchPlan plan;  ///< its `scores` are always computed
  search::CacheOptions cache;
  search::SpeculativeOptions speculative;
  search::SearchTree::Bounds bounds;
  std::stop_token stop;  ///< ends the search after the current step (StopReason::cancelled)
};

struct SearchAnswer {
  search::SearchTree tree;
  std::vector<search::Hypothesis> hypotheses;  ///< as they are without an observer, bit for bit
  search::Speculation speculation;
};

/// Runs the search alone, in a session of its own.
/// @throws Error(usage) if the question's parts contradict each other, or the tree has more nodes than its bounds allow
SearchAnswer watch_search(Context& c, const model::Model& m, const SearchQuestion& question);

/// The number of likeliest tokens of each row among which forbidden and untaken ones are shown.
inline constexpr std::int32_t watched_tokens = 32;

/// "living", "cut", …
std::string_view name_of(search::Fate fate);

/// The tokens that were given, the plan, the nodes and the results.
/// @param texts  of the hypotheses
nlohmann::ordered_json search_json(const TextReader& reader, const SearchQuestion& question, const SearchAnswer& answer,
                                   const std::vector<std::string>& texts);

}  // namespace tril::trace
