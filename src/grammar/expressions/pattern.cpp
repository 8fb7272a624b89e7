#include "grammar/expressions/pattern.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "base/element.h"
#include "grammar/expressions/unsupported.h"

namespace tril::search {

std::int32_t Pattern::add_state() {
  if (states_.size() >= most_states)
    throw Unsupported("regular expression", fmt::format("needs more than {} states", most_states));
  states_.emplace_back();
  return static_cast<std::int32_t>(states_.size()) - 1;
}

void Pattern::add_edge(std::int32_t from, CharSet on, std::int32_t to) {
  if (!on.empty()) element(states_, from).edges.push_back({std::move(on), to});
}

void Pattern::add_jump(std::int32_t from, std::int32_t to) {
  element(states_, from).jumps.push_back(to);
}

Pattern Pattern::of_length(std::int64_t least, std::optional<std::int64_t> most) {
  Pattern p;
  std::int32_t at = p.start();
  const auto step = [&] {
    const std::int32_t next = p.add_state();
    p.add_edge(at, all_chars(), next);
    at = next;
  };
  for (std::int64_t i = 0; i < least; ++i) step();
  if (most) {
    for (std::int64_t i = least; i < *most; ++i) p.add_jump(at, p.end()), step();
  } else {
    const std::int32_t loop = p.add_state();  // no edge leads back into the start itself
    p.add_jump(at, loop);
    p.add_edge(loop, all_chars(), loop);
    at = loop;
  }
  p.add_jump(at, p.end());
  return p;
}

Pattern Pattern::beginning_with(const CharSet& first) {
  Pattern p;
  const std::int32_t rest = p.add_state();
  p.add_edge(p.start(), first, rest);
  p.add_edge(rest, all_chars(), rest);
  p.add_jump(rest, p.end());
  return p;
}

Pattern Pattern::of_length_modulo(std::int64_t divisor, std::int64_t rest) {
  Pattern p;
  std::vector<std::int32_t> circle;
  for (std::int64_t i = 0; i < divisor; ++i) circle.push_back(p.add_state());
  p.add_jump(p.start(), circle[0]);
  for (std::size_t i = 0; i < circle.size(); ++i) p.add_edge(circle[i], all_chars(), circle[(i + 1) % circle.size()]);
  p.add_jump(element(circle, rest), p.end());
  return p;
}

Pattern Pattern::of_texts(std::span<const std::string> texts) {
  Pattern p;
  for (const std::string& text : texts) {
    std::int32_t at = p.start();
    for (const char32_t c : code_points(text, "text")) {
      const std::int32_t next = p.add_state();
      p.add_edge(at, {{c, c}}, next);
      at = next;
    }
    p.add_jump(at, p.end());
  }
  return p;
}

// A trie of the texts; any character that leaves the trie leaves it for good.
Pattern Pattern::except(std::span<const std::string> texts) {
  struct TrieNode {
    std::map<char32_t, std::size_t> children;
    bool is_text = false;
  };
  std::vector<TrieNode> trie(1);
  for (const std::string& text : texts) {
    std::size_t at = 0;
    for (const char32_t c : code_points(text, "text")) {
      if (!trie[at].children.contains(c)) {
        trie[at].children[c] = trie.size();
        trie.emplace_back();
      }
      at = trie[at].children[c];
    }
    trie[at].is_text = true;
  }
  Pattern p;
  const std::int32_t free = p.add_state();
  p.add_edge(free, all_chars(), free);
  p.add_jump(free, p.end());
  std::vector<std::int32_t> states{p.start()};
  for (std::size_t i = 1; i < trie.size(); ++i) states.push_back(p.add_state());
  for (std::size_t i = 0; i < trie.size(); ++i) {
    CharSet known;
    for (const auto& [c, child] : trie[i].children) {
      p.add_edge(states[i], {{c, c}}, states[child]);
      known.push_back({c, c});
    }
    p.add_edge(states[i], tril::search::complement(normalized(known)), free);
    if (!trie[i].is_text) p.add_jump(states[i], p.end());
  }
  return p;
}

Pattern Pattern::operator&(const Pattern& other) const {
  return common(other).pattern;
}

CommonPattern Pattern::common(const Pattern& other, std::size_t most) const {
  Pattern both;
  const auto key = [&](std::int32_t a, std::int32_t b) { return a * std::ssize(other.states_) + b; };
  std::unordered_map<std::int64_t, std::int32_t> known{{key(start(), other.start()), both.start()},
                                                       {key(end(), other.end()), both.end()}};
  std::vector<std::pair<std::int32_t, std::int32_t>> pending{{start(), other.start()}};
  const auto reach = [&](std::int32_t a, std::int32_t b) {
    const auto [at, fresh] = known.try_emplace(key(a, b), 0);
    if (fresh) {
      if (both.states_.size() >= most)
        throw Unsupported("regular expression", fmt::format("their intersection needs more than {} states", most));
      at->second = both.add_state();
      pending.emplace_back(a, b);
    }
    return at->second;
  };
  while (!pending.empty()) {
    const auto [a, b] = pending.back();
    pending.pop_back();
    const std::int32_t from = known.at(key(a, b));
    const State &x = element(states_, a), &y = element(other.states_, b);
    for (const std::int32_t to : x.jumps) both.add_jump(from, reach(to, b));
    for (const std::int32_t to : y.jumps) both.add_jump(from, reach(a, to));
    for (const Edge& e : x.edges)
      for (const Edge& f : y.edges)
        if (CharSet on = intersection(e.on, f.on); !on.empty()) both.add_edge(from, std::move(on), reach(e.to, f.to));
  }
  return {both.trimmed(), std::ssize(both.states_)};
}

bool Pattern::matches(std::string_view text) const {
  return match(text).matches;
}

// Thompson's simulation [1968]: tracks the set of states that the text so far may lead to.
Pattern::Outcome Pattern::match(std::string_view text) const {
  std::vector<std::int32_t> seen(states_.size(), -1), live, pending{start()};
  std::int32_t place = 0;
  std::int64_t steps = std::ssize(states_) / 64;  // clearing `seen`
  const auto close = [&] {
    live.clear();
    while (!pending.empty()) {
      const std::int32_t s = pending.back();
      pending.pop_back();
      if (std::exchange(element(seen, s), place) == place) continue;
      live.push_back(s);
      const std::vector<std::int32_t>& jumps = element(states_, s).jumps;
      pending.insert(pending.end(), jumps.begin(), jumps.end());
      steps += 1 + std::ssize(jumps);
    }
  };
  close();
  for (const char32_t c : code_points(text, "text")) {
    if (live.empty()) return {false, steps};
    for (const std::int32_t s : live)
      for (const Edge& e : element(states_, s).edges) {
        steps += std::ssize(e.on);
        if (std::any_of(e.on.begin(), e.on.end(), [c](const CharRange& r) { return c >= r.least && c <= r.most; }))
          pending.push_back(e.to);
      }
    ++place;
    close();
  }
  return {element(seen, end()) == place, steps};
}

bool Pattern::is_empty() const {
  // A trimmed pattern without texts is a start and an end without edges.
  const Pattern p = trimmed();
  return p.states_[0].edges.empty() && p.states_[0].jumps.empty();
}

Pattern Pattern::trimmed() const {
  std::vector<std::vector<std::int32_t>> before(states_.size());
  for (std::size_t s = 0; s < states_.size(); ++s) {
    const auto from = static_cast<std::int32_t>(s);
    for (const Edge& e : states_[s].edges) element(before, e.to).push_back(from);
    for (const std::int32_t to : states_[s].jumps) element(before, to).push_back(from);
  }
  std::vector<char> live(states_.size(), 0);
  std::vector<std::int32_t> pending{end()};
  element(live, end()) = 1;
  while (!pending.empty()) {
    const std::int32_t s = pending.back();
    pending.pop_back();
    for (const std::int32_t from : element(before, s))
      if (!std::exchange(element(live, from), 1)) pending.push_back(from);
  }
  Pattern p;
  std::vector<std::int32_t> number(states_.size(), -1);
  number[0] = 0, number[1] = 1;
  for (std::size_t s = 2; s < states_.size(); ++s)
    if (live[s]) number[s] = p.add_state();
  for (std::size_t s = 0; s < states_.size(); ++s) {
    if (!live[s]) continue;
    for (const Edge& e : states_[s].edges)
      if (element(live, e.to)) p.add_edge(number[s], e.on, element(number, e.to));
    for (const std::int32_t to : states_[s].jumps)
      if (element(live, to)) p.add_jump(number[s], element(number, to));
  }
  return p;
}

}  // namespace tril::search
