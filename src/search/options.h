// What a search is asked for, and what it gives. Lengths count generated tokens; the start token is not one of them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tril::search {

/// When a beam search ends although it could go on.
enum class EarlyStopping : std::uint8_t {
  no,     ///< once the best running hypothesis, normalised at its present length, is not above the worst finished one
  yes,    ///< as soon as there are beam_size finished ones
  never,  ///< as `no`, with the length penalty of the longest output where that is positive: nothing better is missed
};

/// The names by which options and model directories know them.
inline const std::vector<std::pair<std::string, EarlyStopping>>& early_stopping_names() {
  static const std::vector<std::pair<std::string, EarlyStopping>> names{
      {"false", EarlyStopping::no}, {"true", EarlyStopping::yes}, {"never", EarlyStopping::never}};
  return names;
}

struct SearchOptions {
  std::int32_t beam_size = 1;  ///< 1: greedy
  std::int32_t n_best = 1;     ///< hypotheses wanted for each sentence; at most beam_size
  /// A hypothesis of n tokens, EOS counted, scores (sum of log-probabilities) / n^length_penalty.
  double length_penalty = 1;
  EarlyStopping early_stopping = EarlyStopping::no;
  bool scores = false;  ///< greedy search: work out log-probabilities too (a beam search always does)

  std::vector<std::int32_t> eos_ids;                 ///< any of these ends a hypothesis; may be empty
  std::int32_t forced_bos_id = -1;                   ///< the first token of every hypothesis; -1: free
  std::int32_t forced_eos_id = -1;                   ///< the token at max_length; -1: free
  std::vector<std::vector<std::int32_t>> bad_words;  ///< sequences of tokens that no hypothesis may contain
  std::vector<std::int32_t> suppress_ids;            ///< tokens that never come
  std::vector<std::int32_t> begin_suppress_ids;  ///< tokens that never come first (after a forced BOS, if there is one)
  std::int32_t no_repeat_ngram = 0;              ///< no sequence of so many tokens comes twice; 0: any may
  bool renormalize = false;                      ///< whether what is forbidden gives its probability to the rest
};

/// Throws Error(usage) where options contradict themselves or name ids outside [0, vocab_size).
void check_options(const SearchOptions& options, std::int64_t vocab_size);

/// One sentence to be generated.
struct Request {
  std::int32_t start_id = 0;    ///< what the decoder sees first
  std::int32_t min_length = 0;  ///< tokens before an EOS may come
  std::int32_t max_length = 0;  ///< tokens at most, EOS counted; at least 1
};

struct Hypothesis {
  std::vector<std::int32_t> tokens;  ///< as generated: EOS last, unless max_length came first
  double log_prob = 0;               ///< sum over the tokens; 0 from a greedy search without scores
  double score = 0;                  ///< log_prob / tokens^length_penalty
};

/// One way to go on from a row.
struct Candidate {
  float log_prob = 0;
  std::int32_t token = 0;
};

/// The score of a hypothesis of `length` tokens.
double normalized(double log_prob, std::int32_t length, double length_penalty);

}  // namespace tril::search
