// Beam search as in `transformers`. Each step considers the best max(2, 1 + number of EOS ids) * beam_size candidates of
// all rows. A candidate that ends (by EOS, at max_length, or by SearchPlan::ends) becomes a finished hypothesis if it
// ranks among the first beam_size. The best beam_size others continue. Ties go to the lower row, then to the lower id;
// among finished hypotheses to the earlier one. The search stops after beam_size * patience finished hypotheses
// [Kasai et al. 2022, "A call for clarity in beam search"] and keeps that many of the best.
//
// Diverse beam search [Vijayakumar et al. 2018, "Diverse beam search", algorithm 1] divides the rows into groups. Each is
// a beam as above. At step t, a candidate y of group g ranks by
//   sum over steps of log p(y_t | ...) - diversity_penalty * |{rows of groups before g that continue with y_t at step t}|
// The finished hypotheses of a group are ranked in the same way. Returned scores do not include the penalty.
// Alternatives are also groups. Each has beam_size rows, and their first tokens differ.
//
// With required phrases (Request::phrases), the candidates of a group are the best of its rows and the tokens that extend
// a phrase. A bank holds the candidates with the same number of phrase tokens [Post and Vilar 2018]. The group's places
// are allotted to the banks in turn, from the one with the most phrase tokens down. If there are more banks than rows, only
// the fullest, the emptiest and some evenly spaced banks between them take part. So the fullest bank gains a token at each
// step. A finished hypothesis that lacks phrases is kept only until beam_size * patience others have more of them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "search/attention_trail.h"
#include "search/phrases.h"
#include "search/search.h"
#include "search/search_observer.h"

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
  /// At most n_best, all different, best first. With groups: the best of each group, then the second best of each, and so
  /// on until there are n_best; these are sorted by score. With alternatives: the best of each, in the order of their first
  /// tokens' probabilities. With required phrases: only those with the fewest missing phrases.
  std::vector<Hypothesis> hypotheses() const override;

 private:
  struct Beam {
    double sum = 0;       ///< log_prob minus the diversity penalties; ranks beams
    double log_prob = 0;  ///< sum over its tokens
    std::int32_t parent = 0, token = 0;
    std::int32_t progress = 0;  ///< Phrases::progress
    float token_log_prob = 0;   ///< of its last token
  };
  struct Finished {
    Hypothesis hypothesis;
    double rank_score = 0;     ///< Beam::sum, normalised
    std::int32_t missing = 0;  ///< missing phrases; fewer of them rank first, whatever the score
  };
  /// One beam: rows [first, first + count) and its finished hypotheses.
  struct Group {
    std::size_t first = 0, count = 0;
    std::vector<Finished> finished;  ///< best first, at most pool_size()
  };
  std::size_t given() const { return 1 + request_.prefix.size(); }
  std::size_t stride() const { return given() + request_.max_length; }
  std::span<const std::int32_t> tokens(std::int32_t row) const;
  std::size_t group_size() const;
  /// Fills ranked_ with the candidates of a group that are considered, best first.
  void rank(const Group& group, std::span<const Candidate> candidates, std::int32_t k);
  void advance(Group& group);
  bool is_branching() const;
  void branch();
  void allocate(std::size_t most);
  std::span<const std::int32_t> state(std::size_t row) const;
  std::vector<std::int32_t> state_after(const Beam& beam) const;
  void set_wanted();
  /// Why the beam ends with its token; nullopt: it continues.
  std::optional<StopReason> end_of(const Beam& beam) const;
  /// @return its score
  double finish(Group& group, const Beam& beam, StopReason why);
  void finish_unended(Group& group, StopReason why);
  struct Ended;
  double insert(Group& group, Ended ended);
  /// What became of a candidate, for the observer.
  void note(const Group& group, const Beam& beam, Fate fate);
  void note(const Group& group, const Beam& beam, double score, StopReason why);
  SearchObserver::Choice& noted(const Group& group, const Beam& beam, Fate fate);
  static bool is_better(const Beam& a, const Beam& b);
  bool is_done(const Group& group) const;

  const SearchPlan* options_;
  Request request_;
  std::int32_t generated_ = 0;
  std::optional<StopReason> cut_;  ///< set by cut()
  std::vector<Group> groups_;
  std::vector<Beam> running_, next_, ranked_;         // running_: ordered by group
  std::vector<std::int32_t> history_, next_history_;  // [rows, stride]

  Phrases phrases_;
  std::vector<std::int32_t> states_, next_states_;  // [rows, phrases_.state_size()]
  std::vector<std::vector<std::int32_t>> wanted_;   // by row
  AttentionTrail trail_;
  std::vector<std::int32_t> parents_;
  std::vector<SearchObserver::Choice> choices_;  // of this step; empty without an observer
};

}  // namespace tril::search
