// The state of one sentence's search: BeamSearch, and Sequences with the same face. They know no model and no text; a
// driver (decode.h) hands them each row's best candidates and asks which rows to go on with. As a search goes:
//
//   search.begin(request);                                  // one row, holding the start token and the prefix
//   while (!search.done()) {
//     search.advance(candidates, k);                        // the k best of each of rows() rows, best first
//     ... rows i of the next step: parent(i) of this one, extended by token(i)
//   }
//   search.hypotheses();
//
// Beam search as `transformers` has it: of all rows' candidates the best max(2, 1 + number of EOS ids) * beam_size are
// looked at; those that end (by EOS, at max_length, or by SearchOptions::ends) are finished hypotheses if they rank among the first beam_size,
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
  RowView view(std::int32_t row) const { return {tokens(row), &request_}; }
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
  std::size_t given() const { return 1 + request_.prefix.size(); }
  std::size_t stride() const { return given() + static_cast<std::size_t>(request_.max_length); }
  std::span<const std::int32_t> tokens(std::int32_t row) const;
  bool ends(const Beam& beam, std::int32_t length) const;
  void finish(const Beam& beam, std::int32_t length);
  bool cannot_improve() const;

  const SearchOptions* options_;
  Request request_;
  std::int32_t generated_ = 0;
  bool done_ = true;
  std::vector<Beam> running_, ranked_;
  std::vector<std::int32_t> history_, next_history_;  // [beam_size, stride]
  std::vector<Hypothesis> finished_;                  // best first, at most beam_size
};

/// Hypotheses that go on by one token a step each, whatever becomes of the others: one, which is greedy search where
/// candidates are the likeliest tokens, or as many samples as are wanted where they are drawn. All go on from the first
/// row, which brings a candidate for each of them; after that each has a row, until it ends.
class Sequences {
 public:
  explicit Sequences(const SearchOptions& options) : options_(&options) {}
  static std::int32_t candidates_per_row(const SearchOptions& options) { return options.n_best; }

  void begin(const Request& request);
  bool done() const { return rows_.empty(); }
  std::int32_t rows() const { return static_cast<std::int32_t>(rows_.size()); }
  RowView view(std::int32_t row) const;
  void advance(std::span<const Candidate> candidates, std::int32_t k);
  std::int32_t parent(std::int32_t row) const { return rows_[static_cast<std::size_t>(row)].parent; }
  std::int32_t token(std::int32_t row) const { return samples_[sample(row)].tokens.back(); }
  const Request& request() const { return request_; }
  /// In the samples' order.
  std::vector<Hypothesis> hypotheses() const;

  /// What the last advance() added.
  struct Added {
    std::int32_t sample, token;  ///< token -1: none, since nothing may follow
    bool ended;
  };
  std::span<const Added> added() const { return added_; }

 private:
  struct Row {
    std::int32_t sample, parent;
  };
  struct Sample {
    std::vector<std::int32_t> tokens;  ///< the start token and the prefix first
    double log_prob = 0;
  };
  std::size_t sample(std::int32_t row) const {
    return static_cast<std::size_t>(rows_[static_cast<std::size_t>(row)].sample);
  }
  bool extend(std::size_t sample, const Candidate& candidate);

  const SearchOptions* options_;
  Request request_;
  std::vector<Sample> samples_;
  std::vector<Row> rows_, next_rows_;
  std::vector<Added> added_;
  bool forked_ = false;  ///< whether the first row has become those of the samples
};

}  // namespace tril::search
