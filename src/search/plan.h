// What a search is run with (resolve.h makes it of what was asked), and what it gives. Lengths count generated tokens; the start
// token and a given prefix are not among them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "nn/attention_heads.h"
#include "search/stop_reason.h"
#include "settings/early_stopping.h"

namespace tril::search {

using tril::EarlyStopping;

/// How tokens are drawn instead of the likeliest being taken (warpers.h says what each does, in this order).
struct SamplingOptions {
  bool on = false;
  double temperature = 1;  ///< above 0
  std::int32_t top_k = 0;  ///< 0: all
  double top_p = 1;        ///< from 0 to 1; 1: all
  double min_p = 0;        ///< from 0 to 1; 0: all
  double typical_p = 1;    ///< above 0, up to 1; 1: all
  /// What is drawn is a function of this, of Request::number, of the sample and of its position, and of nothing else.
  std::uint64_t seed = 1;
};

class Constraint;
class Shortlist;

/// Whether a hypothesis of these generated tokens after the given ones ends here; called by many threads at once.
using EndTest = std::function<bool(std::span<const std::int32_t> given, std::span<const std::int32_t> tokens)>;

struct SearchPlan {
  std::int32_t beam_size = 1;  ///< 1: greedy, or sampling
  std::int32_t n_best = 1;     ///< hypotheses wanted for each sentence; at most beam_size, but any number of samples
  SamplingOptions sampling;    ///< goes with beam_size 1
  /// A hypothesis of n tokens, EOS counted, scores (sum of log-probabilities) / n^length_penalty.
  double length_penalty = 1;
  EarlyStopping early_stopping = EarlyStopping::no;
  /// A beam search is after beam_size * patience finished hypotheses (rounded, at least one) [Kasai et al. 2022]; above 0.
  double patience = 1;
  /// Groups of beam_size / beam_groups hypotheses that are searched one after the other at each step, each for other
  /// texts than those before it found [Vijayakumar et al. 2018]; divides beam_size.
  std::int32_t beam_groups = 1;
  /// Taken off a candidate of a group for each hypothesis of an earlier group that goes on with the same token there.
  double diversity_penalty = 0;
  /// Instead of the n best hypotheses the best one after each of the n likeliest first tokens, in the order of those;
  /// each has a beam of its own.
  bool alternatives = false;
  /// A first token less probable than this begins no alternative; the likeliest one always does.
  double min_alternative_prob = 0;
  /// Above 0, scores of finished hypotheses lose by source tokens that got little attention (attention_trail.h); needs
  /// attention. It is no part of what running hypotheses rank by.
  double coverage_penalty = 0;
  /// Whose cross-attention is kept for every generated token; nothing: nobody's.
  std::optional<nn::AttentionHeads> attention;
  /// Of translation: the target tokens that each source calls for, the only ones that may come. May be none.
  std::shared_ptr<const Shortlist> shortlist;
  /// What generated text must be: a regular expression, JSON of a schema (constraint.h). May be none. What it forbids never
  /// comes, and what other options forbid comes where nothing else may.
  std::shared_ptr<const Constraint> constraint;
  bool scores = false;  ///< greedy search: work out log-probabilities too (a beam search always does)
  /// Greedy search and samples, with scores: keep the log-probability of each token, and so many of the likeliest at its
  /// place; -1: keep none.
  std::int32_t top_log_probs = -1;

  std::vector<std::int32_t> eos_ids;                 ///< any of these ends a hypothesis; may be empty
  std::int32_t forced_bos_id = -1;                   ///< the first token of every hypothesis; -1: free
  std::int32_t forced_eos_id = -1;                   ///< the token at max_length; -1: free
  std::vector<std::vector<std::int32_t>> bad_words;  ///< sequences of tokens that no hypothesis may contain
  std::vector<std::int32_t> suppress_ids;            ///< tokens that never come
  std::vector<std::int32_t> begin_suppress_ids;  ///< tokens that never come first (after a forced BOS, if there is one)
  /// Added to the logits of these tokens, each named once; -100 and 100 do what forbidding and forcing do.
  std::vector<std::pair<std::int32_t, float>> logit_bias;
  std::int32_t no_repeat_ngram = 0;  ///< no sequence of so many tokens comes twice; 0: any may
  std::int32_t encoder_no_repeat_ngram =
      0;                             ///< no sequence of so many tokens of the source is generated; 0: any may be
  double repetition_penalty = 1;     ///< logits of tokens that were there are divided by it, negative ones multiplied
  double presence_penalty = 0;       ///< taken off the logit of every token generated before
  double frequency_penalty = 0;      ///< taken off it for each time that it was generated
  std::vector<bool> begins_word;     ///< of each token, whether a space comes before it; for Request::new_word
  std::vector<bool> continues_word;  ///< of each token, whether it goes on with the word before; for Request::phrases
  bool renormalize = false;          ///< whether what is forbidden gives its probability to the rest
  /// Where a hypothesis ends without an EOS and whatever min_length says (a stop text, say). May be empty.
  EndTest ends;
  /// Seconds that a sentence may take from its first step on, looked at after each step; 0: any time. What is best by then
  /// is its result.
  double time_limit = 0;

  /// Whether hypotheses compete with each other, which greedy search and samples do not.
  bool has_beam() const { return beam_size > 1 || alternatives; }
  /// Whether the likeliest token is taken each time, for one hypothesis.
  bool is_greedy() const { return !has_beam() && !sampling.on && n_best == 1; }
  /// Finished hypotheses that each beam, or group of one, is after.
  std::int32_t pool_size() const;
};

/// Throws Error(usage) where options contradict themselves or name ids outside [0, vocab_size).
void check_options(const SearchPlan& options, std::int64_t vocab_size);

/// One sentence to be generated.
struct Request {
  std::int32_t start_id = 0;              ///< what the decoder sees first
  std::int32_t min_length = 0;            ///< tokens before an EOS may come
  std::int32_t max_length = 0;            ///< tokens at most, EOS counted; at least 1
  std::vector<std::int32_t> prefix = {};  ///< the given tokens after the start token: the rest of a prompt
  std::uint64_t number = 0;               ///< which random numbers are drawn for it: a line's number in its file
  bool new_word = false;                  ///< the first token is one that begins a word, or an EOS
  /// Sequences of tokens that hypotheses must contain (phrases.h says when they do), as many times as they are listed;
  /// those found in the prefix count. For a beam search.
  std::vector<std::vector<std::int32_t>> phrases = {};
  /// The first token where nothing is given, instead of SearchPlan::forced_bos_id: a language, say. It is generated, so
  /// it counts. -1: as the options say.
  std::int32_t forced_first = -1;
  /// The encoder's tokens, for SearchPlan::encoder_no_repeat_ngram; none: start token and prefix count in their place.
  std::vector<std::int32_t> source = {};
  std::int32_t adapter = -1;  ///< of those of the model (nn/adapters.h); -1: the model's own choice
};

/// Throws Error(usage) where the request's phrases or its first token do not go with the options, name ids outside
/// [0, vocab_size), or leave no room for the shortest text of the constraint.
void check_request(const Request& request, const SearchPlan& options, std::int64_t vocab_size);

/// The token that every hypothesis of the request is made to begin with; -1: none, or something is given in its place.
/// @param forced_bos  SearchPlan::forced_bos_id
std::int32_t forced_first(const Request& request, std::int32_t forced_bos);

/// What may be known of a running hypothesis.
struct RowView {
  std::span<const std::int32_t> tokens;  ///< the start token, the prefix, then what was generated
  const Request* request = nullptr;
  std::int32_t first_sample = 0;  ///< the samples that go on from this row: one, or at the start all
  std::int32_t samples = 1;
  std::span<const std::int32_t> wanted = {};  ///< tokens that are candidates however improbable

  std::int32_t generated() const { return static_cast<std::int32_t>(tokens.size() - 1 - request->prefix.size()); }
  std::span<const std::int32_t> given() const { return tokens.first(1 + request->prefix.size()); }
  std::span<const std::int32_t> new_tokens() const { return tokens.subspan(1 + request->prefix.size()); }
};

/// One way to go on from a row.
struct Candidate {
  float log_prob = 0;
  std::int32_t token = 0;
};

/// How probable a generated token was, and the likeliest ones at its place, best first. Log-probabilities are the model's,
/// after all that forbids and penalises, before what narrows the choice of a sample.
struct TokenScore {
  float log_prob = 0;
  std::vector<Candidate> top;
};

struct Hypothesis {
  std::vector<std::int32_t> tokens;  ///< as generated: EOS last, unless max_length came first or SearchPlan::ends
  double log_prob = 0;               ///< sum over the tokens; 0 from a greedy search without scores
  double score = 0;                  ///< log_prob / tokens^length_penalty, and the coverage penalty
  std::vector<std::int32_t> unsatisfied = {};  ///< of Request::phrases, those that it lacks
  StopReason stop_reason = StopReason::length;
  /// [tokens, source tokens], each row's sum 1: what the token was made from; none without SearchPlan::attention.
  std::vector<float> attention = {};
  std::vector<TokenScore> token_scores = {};  ///< of each token, where SearchPlan::top_log_probs asks for them
};

/// The score of a hypothesis of `length` tokens.
double normalized(double log_prob, std::int32_t length, double length_penalty);

}  // namespace tril::search
