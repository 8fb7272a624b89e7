// The search of one sentence as a tree, recorded while it runs (search_observer.h). A node is a token after the tokens of its parent.
// Its sum is its parent's plus its own log-probability: that of a finished node is the log-probability of a hypothesis. Samples that
// draw the same tokens share nodes.
//
//   SearchTree tree;
//   request.observer = &tree;
//   const auto results = decode(c, step, {{&request, 1}, plan});
//   tree.close();
//   tree.nodes_of(results[0]);     // the node in which each result ends; with SearchPlan::scores
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "search/search_observer.h"

namespace tril::search {

struct SearchNode {
  std::int32_t parent = -1;  ///< -1: the root, which has no token
  std::int32_t step = 0;     ///< generated tokens up to here
  std::int32_t token = -1;
  std::int32_t group = 0;    ///< SearchObserver::Choice::group
  std::int32_t samples = 1;  ///< that went this way
  Fate fate = Fate::living;
  bool proposed = false;  ///< a proposal that was accepted, or is rejected
  /// NaN of a rejected proposal that is not among the likeliest tokens, or comes after such a one.
  double log_prob = 0, sum = 0, rank_sum = 0;
  double score = 0;                             ///< of a finished node
  StopReason stop_reason = StopReason::length;  ///< of a finished node
};

class SearchTree : public SearchObserver {
 public:
  struct Bounds {
    std::size_t nodes = 4096;  ///< half of them may be nodes from which the search did not go on
    std::int32_t forbidden = 3,
                 others = 3;  ///< of each row's observed tokens: the likeliest forbidden, and the likeliest not taken
  };
  SearchTree() : SearchTree(Bounds{}) {}
  explicit SearchTree(const Bounds& bounds) : bounds_(bounds) {}

  void begin(const Request& request) override;
  void choose(const Choice& choice) override;
  void see(std::int32_t row, std::span<const LikelyToken> tokens) override;
  void advance() override;
  void end(std::int32_t row, double score, StopReason why) override;
  void propose(std::span<const std::int32_t> tokens) override;

  /// After the search: what still has a place in the beam is stopped.
  void close();
  /// In the order in which they came: a parent before its children, the root first.
  const std::vector<SearchNode>& nodes() const { return nodes_; }
  /// Nodes beyond the bounds, from which the search did not go on either.
  std::int64_t left_out() const { return left_out_; }
  /// The node in which each hypothesis of this search ends; -1: it is not in the tree.
  std::vector<std::int32_t> nodes_of(std::span<const Hypothesis> hypotheses) const;
  /// The tokens from the root to a node.
  std::vector<std::int32_t> tokens_to(std::int32_t node) const;

 private:
  std::int32_t add(const SearchNode& node);
  /// The child of a node with this token and group that went on or finished; -1: none.
  std::int32_t find(std::int32_t parent, std::int32_t token, std::int32_t group) const;
  bool has_child(std::int32_t parent, std::int32_t token) const;
  /// For nodes from which the search does not go on.
  bool has_room_beside() const { return nodes_.size() < bounds_.nodes / 2; }
  void reject(std::int32_t parent);
  void add_beside(std::int32_t parent, const LikelyToken& token);

  Bounds bounds_;
  std::vector<SearchNode> nodes_;
  std::vector<std::vector<std::int32_t>> children_;  // by node
  std::vector<bool> seen_;                           // by node: its likeliest tokens are known
  std::vector<std::int32_t> rows_, next_rows_;       // the node of each row
  std::vector<std::int32_t> proposed_;               // not judged yet
  std::int64_t left_out_ = 0;
};

}  // namespace tril::search
