// The settings of a search (resolve.h derives them from the user's options), its requests and its results. Lengths count
// generated tokens, without the start token and the prefix.
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

/// How tokens are sampled. warpers.h defines the options, in this order.
struct SamplingOptions {
  bool on = false;
  double temperature = 1;  ///< above 0
  std::int32_t top_k = 0;  ///< 0: all
  double top_p = 1;        ///< from 0 to 1; 1: all
  double min_p = 0;        ///< from 0 to 1; 0: all
  double typical_p = 1;    ///< above 0, up to 1; 1: all
  /// A drawn token depends only on the seed, Request::number, the sample, its position and the model's distribution.
  std::uint64_t seed = 1;
};

class Constraint;
class SearchObserver;
class Shortlist;

/// True if a hypothesis ends here. Takes the prompt and the generated tokens. Called by several threads at once.
using EndTest = std::function<bool(std::span<const std::int32_t> given, std::span<const std::int32_t> tokens)>;

struct SearchPlan {
  std::int32_t beam_size = 1;  ///< 1: greedy, or sampling
  std::int32_t n_best = 1;     ///< hypotheses for each sentence: at most beam_size, or any number of samples
  SamplingOptions sampling;    ///< requires beam_size 1
  /// The score of a hypothesis of n tokens, including EOS, is (sum of log-probabilities) / n^length_penalty.
  double length_penalty = 1;
  EarlyStopping early_stopping = EarlyStopping::no;
  /// Beam search stops after beam_size * patience finished hypotheses (rounded, at least one) [Kasai et al. 2022]; above 0.
  double patience = 1;
  /// Groups of beam_size / beam_groups hypotheses. Each step extends the groups one after the other, and each avoids the
  /// tokens of the groups before it [Vijayakumar et al. 2018]. Divides beam_size.
  std::int32_t beam_groups = 1;
  /// Subtracted from a candidate for each hypothesis of an earlier group that continues with the same token at this step.
  double diversity_penalty = 0;
  /// Returns the best hypothesis after each of the n likeliest first tokens, in the order of their probabilities, instead of
  /// the n best. Each has a beam of its own.
  bool alternatives = false;
  /// First tokens less probable than this begin no alternative, except the likeliest.
  double min_alternative_prob = 0;
  /// Above 0, lowers the scores of finished hypotheses for source tokens with little attention (attention_trail.h). Needs
  /// `attention`. Running hypotheses are ranked without it.
  double coverage_penalty = 0;
  /// The heads whose cross-attention weights are recorded for every generated token; nullopt: none are.
  std::optional<nn::AttentionHeads> attention;
  /// For translation: restricts the output to the target tokens listed for each source. May be null.
  std::shared_ptr<const Shortlist> shortlist;
  /// The form of the generated text, such as a regular expression or a JSON schema (constraint.h). May be null. Tokens that it
  /// forbids are never generated. Tokens that only other options forbid are generated if no other token is allowed.
  std::shared_ptr<const Constraint> constraint;
  bool scores = false;  ///< compute log-probabilities in greedy search and sampling (beam search always does)
  /// In greedy search and sampling with scores: record the log-probability of each token, and this many of the likeliest
  /// tokens at its position; -1: record none.
  std::int32_t top_log_probs = -1;
  /// How many of each row's likeliest tokens a request's observer sees, those that are forbidden among them; 0: none.
  std::int32_t observed_tokens = 0;

  std::vector<std::int32_t> eos_ids;                 ///< any of these ends a hypothesis; may be empty
  std::int32_t forced_bos_id = -1;                   ///< the first token of every hypothesis; -1: free
  std::int32_t forced_eos_id = -1;                   ///< the token at max_length; -1: free
  std::vector<std::vector<std::int32_t>> bad_words;  ///< sequences of tokens that no hypothesis may contain
  std::vector<std::int32_t> suppress_ids;            ///< tokens that are never generated
  std::vector<std::int32_t> begin_suppress_ids;  ///< tokens that are never generated first (not counting a forced BOS)
  /// Added to the logits of these tokens; each token at most once. -100 practically forbids a token, 100 forces it.
  std::vector<std::pair<std::int32_t, float>> logit_bias;
  std::int32_t no_repeat_ngram = 0;          ///< no n-gram of this many tokens occurs twice; 0: no limit
  std::int32_t encoder_no_repeat_ngram = 0;  ///< no n-gram of the source of this many tokens is generated; 0: no limit
  double repetition_penalty = 1;             ///< divides positive logits of earlier tokens and multiplies negative ones
  double presence_penalty = 0;               ///< subtracted from the logit of every token generated before
  double frequency_penalty = 0;              ///< subtracted from it once for each time that the token was generated
  std::vector<bool> begins_word;             ///< by token: it begins with a space; for Request::new_word
  std::vector<bool> continues_word;          ///< by token: it continues the word before it; for Request::phrases
  bool renormalize = false;                  ///< renormalise probabilities after tokens are forbidden
  /// Ends a hypothesis without an EOS and regardless of min_length, for example at a stop string. May be empty.
  EndTest ends;
  /// Seconds that a sentence may take from its first step, checked after each step; 0: no limit. The result is the best
  /// hypothesis so far.
  double time_limit = 0;

  /// True if hypotheses compete with each other, as in beam search but not in greedy search or sampling.
  bool has_beam() const { return beam_size > 1 || alternatives; }
  /// True if the search has a single text, whose tokens proposals can be compared with (decode/batches/speculator.h).
  bool takes_proposals() const { return !has_beam() && n_best == 1 && !attention && !shortlist; }
  /// The number of finished hypotheses after which a beam, or a beam group, stops.
  std::int32_t pool_size() const;
};

/// Throws Error(usage) if options contradict each other or an id is outside [0, vocab_size).
void check_options(const SearchPlan& options, std::int64_t vocab_size);

/// One sentence to generate.
struct Request {
  std::int32_t start_id = 0;              ///< the decoder's first input token
  std::int32_t min_length = 0;            ///< tokens before an EOS is allowed
  std::int32_t max_length = 0;            ///< the maximum number of tokens, including EOS; at least 1
  std::vector<std::int32_t> prefix = {};  ///< the given tokens after the start token: the rest of a prompt
  std::uint64_t number = 0;               ///< selects its random numbers, for example the line number in a file
  bool new_word = false;                  ///< the first token must begin a word, or be an EOS
  /// Token sequences that hypotheses must contain (phrases.h defines when they do), as often as they are listed. Those in
  /// the prefix count. Beam search only.
  std::vector<std::vector<std::int32_t>> phrases = {};
  /// The first token if there is no prefix, for example a language token; overrides SearchPlan::forced_bos_id. It counts as
  /// generated. -1: no override.
  std::int32_t forced_first = -1;
  /// The encoder's tokens, for SearchPlan::encoder_no_repeat_ngram. Empty: the start token and the prefix are used.
  std::vector<std::int32_t> source = {};
  /// What is likely to be generated, for example the text that is to be edited; may be null. It makes decoding faster
  /// (prompt_lookup.h), and the result is the same up to rounding. Requests can share it.
  std::shared_ptr<const std::vector<std::int32_t>> prediction = {};
  std::int32_t adapter = -1;           ///< the model's adapter to use (nn/adapters.h); -1: the model's default
  SearchObserver* observer = nullptr;  ///< sees what the search decides (search_observer.h); may be null
};

/// Throws Error(usage) if the request's phrases or its first token contradict the options or are outside [0, vocab_size), or
/// if max_length is below the shortest text of the constraint.
void check_request(const Request& request, const SearchPlan& options, std::int64_t vocab_size);

/// The forced first token of every hypothesis of the request; -1: none, or there is a prefix.
/// @param forced_bos  SearchPlan::forced_bos_id
std::int32_t forced_first(const Request& request, std::int32_t forced_bos);

/// A running hypothesis, as logits processors see it.
struct RowView {
  std::span<const std::int32_t> tokens;  ///< the start token, the prefix, then what was generated
  const Request* request = nullptr;
  std::int32_t first_sample = 0;  ///< the samples that continue this row: one, or all of them at the start
  std::int32_t samples = 1;
  std::span<const std::int32_t> wanted = {};  ///< tokens that are candidates even if improbable

  std::int32_t generated() const { return static_cast<std::int32_t>(tokens.size() - 1 - request->prefix.size()); }
  std::span<const std::int32_t> given() const { return tokens.first(1 + request->prefix.size()); }
  std::span<const std::int32_t> new_tokens() const { return tokens.subspan(1 + request->prefix.size()); }
};

/// A possible next token of a row.
struct Candidate {
  float log_prob = 0;
  std::int32_t token = 0;
};

/// One of the likeliest tokens of a row before any is forbidden.
struct LikelyToken {
  float log_prob = 0;       ///< as a candidate's would be
  std::int32_t token = -1;  ///< -1: there are fewer tokens
  bool forbidden = false;   ///< a processor forbids it
};

/// The log-probability of a generated token, and the likeliest tokens at its position, best first. Log-probabilities are
/// taken after the logits processors and before the warpers.
struct TokenScore {
  float log_prob = 0;
  std::vector<Candidate> top;
};

struct Hypothesis {
  std::vector<std::int32_t> tokens;            ///< as generated, with the final EOS if there is one
  double log_prob = 0;                         ///< sum over the tokens; 0 from a greedy search without scores
  double score = 0;                            ///< log_prob / tokens^length_penalty, plus the coverage penalty
  std::vector<std::int32_t> unsatisfied = {};  ///< the missing ones of Request::phrases
  StopReason stop_reason = StopReason::length;
  /// Cross-attention weights [tokens, source tokens]; each row sums to 1. Empty without SearchPlan::attention.
  std::vector<float> attention = {};
  std::vector<TokenScore> token_scores = {};  ///< of each token, if SearchPlan::top_log_probs is at least 0
};

/// The score of a hypothesis of `length` tokens.
double normalized(double log_prob, std::int32_t length, double length_penalty);

}  // namespace tril::search
