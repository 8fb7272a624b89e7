// Beam search as `transformers` has it: of all rows' candidates the best max(2, 1 + number of EOS ids) * beam_size are
// looked at; those that end (by EOS, at max_length, or by SearchPlan::ends) are finished hypotheses if they rank among the first beam_size,
// the best beam_size others go on. Equal scores go to the lower row, then to the lower id, and to the hypothesis
// finished first. The search is after beam_size * patience finished hypotheses [Kasai et al. 2022, "A call for clarity in
// beam search"], and keeps the best so many.
//
// Diverse beams [Vijayakumar et al. 2018, "Diverse beam search", algorithm 1] are groups of rows, each a beam as above.
// At step t a candidate y of group g ranks by
//   sum over steps of log p(y_t | ...) - diversity_penalty * |{rows of groups before g that go on with y_t at step t}|
// and so do the group's finished hypotheses among each other; scores that are returned are without the penalty.
// Alternatives are groups too, of beam_size rows each, which differ in their first token.
//
// Where phrases must come (Request::phrases), a group's candidates are its rows' best and the tokens that bring a phrase
// on, and its places are shared out among banks, a bank the candidates of one number of tokens of phrases that they hold
// [Post and Vilar 2018]: in turn the best of each bank that has any, from the fullest down; of more banks than the
// group has rows, the fullest, the emptiest and some between them. So the fullest bank goes on by a token at each step.
// A hypothesis that ends without its phrases is one only as long as there are no beam_size * patience others with more.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "search/attention_trail.h"
#include "search/phrases.h"
#include "search/search.h"

namespace tril::search {

class BeamSearch : public Search {
 public:
  explicit BeamSearch(const SearchPlan& options) : options_(&options) {}
  static std::int32_t candidates_per_row(const SearchPlan& options);

  void begin(const Request& request) override;
  bool done() const override { return running_.empty(); }
  const Request& request() const override { return request_; }
  std::int32_t rows() const override { return static_cast<std::int32_t>(running_.size()); }
  RowView view(std::int32_t row) const override;
  std::int32_t parent(std::int32_t row) const override { return running_[row].parent; }
  std::int32_t token(std::int32_t row) const override { return running_[row].token; }
  std::int32_t best_row() const override;
  using Search::advance;
  void advance(std::span<const Candidate> candidates, std::int32_t k, const Seen& seen) override;
  void cut(StopReason why) override;
  /// At most n_best, no two of the same tokens. The best, best first; of groups,
  /// the best of each, then the second best, ... and of these the best first; of alternatives the best of each, in the
  /// order of their first tokens' probabilities. Where phrases must come, only those that hold most of them.
  std::vector<Hypothesis> hypotheses() const override;

 private:
  struct Beam {
    double sum = 0;       ///< what it ranks by
    double log_prob = 0;  ///< the same without penalties for what other groups chose
    std::int32_t parent = 0, token = 0;
    std::int32_t progress = 0;  ///< of phrases
  };
  struct Finished {
    Hypothesis hypothesis;
    double rank_score = 0;     ///< normalised sum
    std::int32_t missing = 0;  ///< phrases, which rank before the score
  };
  /// One beam: rows [first, first + count) and what ended.
  struct Group {
    std::size_t first = 0, count = 0;
    std::vector<Finished> finished;  ///< best first, at most pool_size()
  };
  std::size_t given() const { return 1 + request_.prefix.size(); }
  std::size_t stride() const { return given() + request_.max_length; }
  std::span<const std::int32_t> tokens(std::int32_t row) const;
  std::size_t group_size() const;
  /// The candidates of a group's rows into ranked_, the best first and only those that are looked at.
  void rank(const Group& group, std::span<const Candidate> candidates, std::int32_t k);
  void advance(Group& group);
  bool is_branching() const;
  void branch();
  void allocate(std::size_t most);
  std::span<const std::int32_t> state(std::size_t row) const;
  std::vector<std::int32_t> state_behind(const Beam& beam) const;
  void want();
  /// Why it ends with its token; nothing: it goes on.
  std::optional<StopReason> end_of(const Beam& beam) const;
  void finish(Group& group, const Beam& beam, StopReason why);
  void finish_unended(Group& group, StopReason why);
  struct Ended;
  void insert(Group& group, Ended ended);
  static bool is_better(const Beam& a, const Beam& b);
  bool is_done(const Group& group) const;

  const SearchPlan* options_;
  Request request_;
  std::int32_t generated_ = 0;
  std::optional<StopReason> cut_;  ///< why it was ended before its end
  std::vector<Group> groups_;
  std::vector<Beam> running_, next_, ranked_;         // running_: group after group
  std::vector<std::int32_t> history_, next_history_;  // [rows, stride]

  Phrases phrases_;
  std::vector<std::int32_t> states_, next_states_;  // [rows, phrases_.state_size()]
  std::vector<std::vector<std::int32_t>> wanted_;   // of rows
  AttentionTrail trail_;
  std::vector<std::int32_t> parents_;
};

}  // namespace tril::search
