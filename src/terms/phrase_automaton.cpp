#include "terms/phrase_automaton.h"

#include <algorithm>

#include "base/as_size.h"

namespace tril::terms {

std::int32_t PhraseAutomaton::child(std::int32_t node, std::int32_t unit) const {
  const auto found = children_.find(key(node, unit));
  return found == children_.end() ? -1 : found->second;
}

// The node of a phrase, which is made if it does not exist.
std::int32_t PhraseAutomaton::node_of(std::span<const std::string> units) {
  std::int32_t node = 0;
  for (std::size_t i = units.size(); i-- > 0;) {
    const std::int32_t unit = units_.emplace(units[i], static_cast<std::int32_t>(units_.size())).first->second;
    const auto [at, is_new] = children_.emplace(key(node, unit), static_cast<std::int32_t>(nodes_.size()));
    if (is_new) nodes_.emplace_back();
    node = at->second;
  }
  return node;
}

std::int32_t PhraseAutomaton::add(std::span<const std::string> units, std::int32_t phrase) {
  Found& found = nodes_[as_size(node_of(units))].found;
  if (found.phrase == blocked) return -1;
  if (found.length == 0) found = {static_cast<std::int32_t>(units.size()), phrase};
  return found.phrase;
}

void PhraseAutomaton::block(std::span<const std::string> units) {
  nodes_[as_size(node_of(units))].found = {0, blocked};
}

void PhraseAutomaton::finish() {
  struct Edge {
    std::int32_t from, unit, to;
  };
  std::vector<Edge> edges;
  edges.reserve(children_.size());
  for (const auto& [from, to] : children_)
    edges.push_back({static_cast<std::int32_t>(from >> 32), static_cast<std::int32_t>(from & 0xffffffff), to});
  // Nodes are numbered before their children, but not by depth: the queue goes level by level.
  std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) { return a.from < b.from; });
  const auto edges_of = [&](std::int32_t node) {
    return std::equal_range(edges.begin(), edges.end(), Edge{node, 0, 0},
                            [](const Edge& a, const Edge& b) { return a.from < b.from; });
  };
  std::vector<std::int32_t> queue{0};
  for (std::size_t at = 0; at < queue.size(); ++at) {
    const std::int32_t node = queue[at];
    const auto [begin, end] = edges_of(node);
    for (auto edge = begin; edge != end; ++edge) {
      Node& next = nodes_[as_size(edge->to)];
      if (node != 0) {
        std::int32_t fail = nodes_[as_size(node)].fail;
        while (fail != 0 && child(fail, edge->unit) < 0) fail = nodes_[as_size(fail)].fail;
        next.fail = std::max(0, child(fail, edge->unit));
      }
      if (next.found.length == 0) next.found = nodes_[as_size(next.fail)].found;
      queue.push_back(edge->to);
    }
  }
}

std::int32_t PhraseAutomaton::unit(std::string_view text) const {
  const auto found = units_.find(text);
  return found == units_.end() ? -1 : found->second;
}

std::vector<PhraseAutomaton::Found> PhraseAutomaton::longest(std::span<const std::int32_t> units) const {
  std::vector<Found> list(units.size());
  std::int32_t node = 0;
  for (std::size_t i = units.size(); i-- > 0;) {
    if (units[i] < 0) {
      node = 0;
      continue;
    }
    std::int32_t next = child(node, units[i]);
    while (next < 0 && node != 0) {
      node = nodes_[as_size(node)].fail;
      next = child(node, units[i]);
    }
    node = std::max(0, next);
    list[i] = nodes_[as_size(node)].found;
  }
  return list;
}

}  // namespace tril::terms
