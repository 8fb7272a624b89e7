#include "search/search_tree.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/as_size.h"
#include "base/error.h"

namespace tril::search {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

bool goes_on(Fate fate) {
  return fate == Fate::living || fate == Fate::finished || fate == Fate::stopped;
}

}  // namespace

void SearchTree::begin(const Request&) {
  nodes_.assign(1, SearchNode{});
  children_.assign(1, {});
  seen_.assign(1, false);
  rows_.assign(1, 0);
  next_rows_.clear();
  proposed_.clear();
  left_out_ = 0;
}

std::int32_t SearchTree::add(const SearchNode& node) {
  if (nodes_.size() >= bounds_.nodes)
    fail_usage("search tree", fmt::format("has more than {} nodes", bounds_.nodes),
               "search with a smaller beam, fewer samples, or a lower maximum length");
  const auto number = static_cast<std::int32_t>(nodes_.size());
  nodes_.push_back(node);
  nodes_.back().step = nodes_[as_size(node.parent)].step + 1;
  children_.emplace_back();
  seen_.push_back(false);
  children_[as_size(node.parent)].push_back(number);
  return number;
}

std::int32_t SearchTree::find(std::int32_t parent, std::int32_t token, std::int32_t group) const {
  for (const std::int32_t child : children_[as_size(parent)]) {
    const SearchNode& n = nodes_[as_size(child)];
    if (n.token == token && n.group == group && goes_on(n.fate)) return child;
  }
  return -1;
}

bool SearchTree::has_child(std::int32_t parent, std::int32_t token) const {
  const std::vector<std::int32_t>& all = children_[as_size(parent)];
  return std::any_of(all.begin(), all.end(), [&](std::int32_t n) { return nodes_[as_size(n)].token == token; });
}

void SearchTree::choose(const Choice& c) {
  const std::int32_t parent = rows_[as_size(c.row)];
  if (!goes_on(c.fate) && !has_room_beside()) {
    ++left_out_;
    return;
  }
  std::int32_t node = find(parent, c.token, c.group);
  if (node >= 0) {
    ++nodes_[as_size(node)].samples;
  } else {
    const bool accepted = !proposed_.empty() && proposed_[0] == c.token;
    node = add({.parent = parent,
                .token = c.token,
                .group = c.group,
                .fate = c.fate,
                .proposed = accepted,
                .log_prob = c.log_prob,
                .sum = c.sum,
                .rank_sum = c.rank_sum,
                .score = c.score,
                .stop_reason = c.stop_reason});
    if (accepted) {
      proposed_.erase(proposed_.begin());
      if (c.fate == Fate::finished) reject(node);
    } else {
      reject(parent);
    }
  }
  if (c.fate == Fate::living) next_rows_.push_back(node);
}

// The proposals that are left come to nothing. They follow each other.
void SearchTree::reject(std::int32_t parent) {
  for (const std::int32_t token : proposed_) {
    if (!has_room_beside()) {
      ++left_out_;
      continue;
    }
    parent = add({.parent = parent,
                  .token = token,
                  .fate = Fate::rejected,
                  .proposed = true,
                  .log_prob = unknown,
                  .sum = unknown,
                  .rank_sum = unknown});
  }
  proposed_.clear();
}

void SearchTree::propose(std::span<const std::int32_t> tokens) {
  proposed_.assign(tokens.begin(), tokens.end());
}

void SearchTree::see(std::int32_t row, std::span<const LikelyToken> tokens) {
  const std::int32_t parent = rows_[as_size(row)];
  if (seen_[as_size(parent)]) return;  // by another sample
  seen_[as_size(parent)] = true;
  std::int32_t forbidden = 0, others = 0;
  for (const LikelyToken& t : tokens) {
    if (t.token < 0 || has_child(parent, t.token)) continue;
    std::int32_t& shown = t.forbidden ? forbidden : others;
    if (shown == (t.forbidden ? bounds_.forbidden : bounds_.others)) continue;
    ++shown;
    add_beside(parent, t);
  }
  // A rejected proposal has its probability even if it is not among those.
  for (const std::int32_t child : children_[as_size(parent)]) {
    SearchNode& n = nodes_[as_size(child)];
    if (n.fate != Fate::rejected || !std::isnan(n.log_prob)) continue;
    const auto seen =
        std::find_if(tokens.begin(), tokens.end(), [&](const LikelyToken& t) { return t.token == n.token; });
    if (seen == tokens.end()) continue;
    n.log_prob = static_cast<double>(seen->log_prob);
    n.sum = n.rank_sum = nodes_[as_size(parent)].sum + n.log_prob;
  }
}

void SearchTree::add_beside(std::int32_t parent, const LikelyToken& t) {
  if (!has_room_beside()) {
    ++left_out_;
    return;
  }
  const SearchNode& from = nodes_[as_size(parent)];
  const auto log_prob = static_cast<double>(t.log_prob);
  add({.parent = parent,
       .token = t.token,
       .group = from.group,
       .fate = t.forbidden ? Fate::forbidden : Fate::cut,
       .log_prob = log_prob,
       .sum = from.sum + log_prob,
       .rank_sum = from.rank_sum + log_prob});
}

void SearchTree::advance() {
  rows_.swap(next_rows_);
  next_rows_.clear();
}

void SearchTree::close() {
  for (const std::int32_t row : rows_)
    if (SearchNode& n = nodes_[as_size(row)]; n.fate == Fate::living) n.fate = Fate::stopped;
  rows_.clear();
}

void SearchTree::end(std::int32_t row, double score, StopReason why) {
  SearchNode& n = nodes_[as_size(rows_[as_size(row)])];
  n.fate = Fate::finished, n.score = score, n.stop_reason = why;
}

std::vector<std::int32_t> SearchTree::tokens_to(std::int32_t node) const {
  std::vector<std::int32_t> tokens;
  for (; node > 0; node = nodes_[as_size(node)].parent) tokens.push_back(nodes_[as_size(node)].token);
  std::reverse(tokens.begin(), tokens.end());
  return tokens;
}

std::vector<std::int32_t> SearchTree::nodes_of(std::span<const Hypothesis> hypotheses) const {
  std::vector<std::int32_t> found;
  for (const Hypothesis& h : hypotheses) {
    std::int32_t at = -1;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const SearchNode& n = nodes_[i];
      const bool fits = n.fate == Fate::finished && n.step == std::ssize(h.tokens) && n.sum == h.log_prob;
      if (fits && tokens_to(static_cast<std::int32_t>(i)) == h.tokens) {
        at = static_cast<std::int32_t>(i);
        break;
      }
    }
    found.push_back(at);
  }
  return found;
}

}  // namespace tril::search
