// The state of one sentence's search: BeamSearch, and Greedy with the same face. They know no model and no text; a
// driver (decode.h) hands them each row's best candidates and asks which rows to go on with. As a search goes:
//
//   search.begin(request);                                  // one row, holding the start token
//   while (!search.done()) {
//     search.advance(candidates, k);                        // the k best of each of rows() rows, best first
//     ... rows i of the next step: parent(i) of this one, extended by token(i)
//   }
//   search.hypotheses();
//
// Beam search as `transformers` has it: of all rows' candidates the best max(2, 1 + number of EOS ids) * beam_size are
// looked at; those that end (by EOS, or at max_length) are finished hypotheses if they rank among the first beam_size,
// the best beam_size others go on. Equal scores go to the lower row, then to the lower id, and to the hypothesis
// finished first.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "search/options.h"

namespace tril::search {

class BeamSearch {
 public:
  explicit BeamSearch(const SearchOptions& options) : options_(&options) {}
  /// Candidates that a row must bring, if the vocabulary has so many.
  static std::int32_t candidates_per_row(const SearchOptions& options);

  void begin(const Request& request);
  bool done() const { return done_; }
  std::int32_t rows() const { return static_cast<std::int32_t>(running_.size()); }
  /// Tokens of a row, the start token first.
  std::span<const std::int32_t> tokens(std::int32_t row) const;
  /// candidates [rows() * k]; those of log-probability -inf do not count.
  void advance(std::span<const Candidate> candidates, std::int32_t k);
  std::int32_t parent(std::int32_t row) const { return running_[static_cast<std::size_t>(row)].parent; }
  std::int32_t token(std::int32_t row) const { return running_[static_cast<std::size_t>(row)].token; }
  const Request& request() const { return request_; }
  /// The best n_best, best first; at least one once the search is done.
  std::vector<Hypothesis> hypotheses() const;

 private:
  struct Beam {
    double log_prob = 0;
    std::int32_t parent = 0, token = 0;
  };
  void finish(const Beam& beam, std::int32_t length);
  bool cannot_improve() const;

  const SearchOptions* options_;
  Request request_;
  std::int32_t generated_ = 0;
  bool done_ = true;
  std::vector<Beam> running_, ranked_;
  std::vector<std::int32_t> history_, next_history_;  // [beam_size, max_length + 1]
  std::vector<Hypothesis> finished_;                  // best first, at most beam_size
};

class Greedy {
 public:
  explicit Greedy(const SearchOptions& options) : options_(&options) {}
  static std::int32_t candidates_per_row(const SearchOptions&) { return 1; }

  void begin(const Request& request);
  bool done() const { return done_; }
  std::int32_t rows() const { return done_ ? 0 : 1; }
  std::span<const std::int32_t> tokens(std::int32_t) const { return tokens_; }
  void advance(std::span<const Candidate> candidates, std::int32_t k);
  std::int32_t parent(std::int32_t) const { return 0; }
  std::int32_t token(std::int32_t) const { return tokens_.back(); }
  const Request& request() const { return request_; }
  std::vector<Hypothesis> hypotheses() const;

 private:
  const SearchOptions* options_;
  Request request_;
  bool done_ = true;
  double log_prob_ = 0;
  std::vector<std::int32_t> tokens_;
};

}  // namespace tril::search
