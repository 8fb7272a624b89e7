#include "grammar/expressions/pattern_of_regex.h"

#include <unordered_map>
#include <utility>

#include "base/element.h"
#include "base/error.h"

namespace tril::search {
namespace {

class PatternBuilder {
  using Node = RegexNode;

 public:
  explicit PatternBuilder(RegexReading reading) : reading_(reading) {}

  Pattern build(const Node& node, RegexMatch match) {
    const std::int32_t start = add(), end = add();
    write(node, start, end);
    if (match == RegexMatch::part) {  // the text around a match
      const std::int32_t before = add(), after = add();
      edges_.push_back({before, before, all_chars()}), edges_.push_back({after, after, all_chars()});
      jumps_.push_back({before, start, Jump::plain}), jumps_.push_back({end, after, Jump::plain});
      return settled(before, after);
    }
    return settled(start, end);
  }

 private:
  struct Jump {
    enum Kind : std::uint8_t { plain, begin, end };
    std::int32_t from, to;
    Kind kind;
  };
  struct CharEdge {
    std::int32_t from, to;
    CharSet on;
  };

  static constexpr std::int64_t phases = 4;

  std::int32_t add() {
    check(std::cmp_less(states_, Pattern::most_states / 3), "regular expression", "needs more than {} states",
          Pattern::most_states / 3);
    return states_++;
  }

  void write(const Node& node, std::int32_t from, std::int32_t to) {
    switch (node.kind) {
      case Node::Kind::begin:
        jumps_.push_back({from, to, Jump::begin});
        break;
      case Node::Kind::end:
        jumps_.push_back({from, to, Jump::end});
        break;
      case Node::Kind::chars:
        edges_.push_back({from, to, node.chars});
        break;
      case Node::Kind::choice:
        for (const Node& part : node.parts) write(part, from, to);
        break;
      case Node::Kind::sequence: {
        for (std::size_t i = 0; i + 1 < node.parts.size(); ++i) {
          const std::int32_t between = add();
          write(node.parts[i], from, between);
          from = between;
        }
        node.parts.empty() ? jumps_.push_back({from, to, Jump::plain}) : write(node.parts.back(), from, to);
        break;
      }
      case Node::Kind::repeat:
        write_repeat(node, from, to);
        break;
    }
  }

  void write_repeat(const Node& node, std::int32_t from, std::int32_t to) {
    const auto step = [&](std::int32_t at) {
      const std::int32_t next = add();
      write(node.parts[0], at, next);
      return next;
    };
    for (std::int64_t i = 0; i < node.least; ++i) from = step(from);
    if (node.most < 0) {
      const std::int32_t loop = add();
      jumps_.push_back({from, loop, Jump::plain});
      const std::int32_t again = step(loop);
      jumps_.push_back({again, loop, Jump::plain}), jumps_.push_back({loop, to, Jump::plain});
      return;
    }
    for (std::int64_t i = node.least; i < node.most; ++i) {
      jumps_.push_back({from, to, Jump::plain});
      from = step(from);
    }
    jumps_.push_back({from, to, Jump::plain});
  }

  Pattern settled(std::int32_t start, std::int32_t end) const {
    std::vector<std::vector<const Jump*>> jumps(static_cast<std::size_t>(states_));
    std::vector<std::vector<const CharEdge*>> edges(static_cast<std::size_t>(states_));
    for (const Jump& j : jumps_) element(jumps, j.from).push_back(&j);
    for (const CharEdge& e : edges_) element(edges, e.from).push_back(&e);

    Pattern pattern;
    std::unordered_map<std::int64_t, std::int32_t> known{{start * phases, pattern.start()}};
    std::vector<std::int64_t> pending{start * phases};
    while (!pending.empty()) {
      const std::int64_t one = pending.back();
      pending.pop_back();
      const auto state = static_cast<std::size_t>(one / phases);
      const std::int64_t phase = one % phases;
      const std::int32_t from = known.at(one);
      const auto reach = [&](std::int32_t s, std::int64_t p) {
        const std::int64_t key = s * phases + p;
        const auto found = known.find(key);
        if (found != known.end()) return found->second;
        pending.push_back(key);
        return known[key] = pattern.add_state();
      };
      if (static_cast<std::int32_t>(state) == end) pattern.add_jump(from, pattern.end());
      // In some engines $ matches before a final line end.
      if (reading_ == RegexReading::wide && static_cast<std::int32_t>(state) == end && phase >= 2)
        pattern.add_edge(from, {{'\n', '\n'}}, pattern.end());
      for (const Jump* j : jumps[state]) {
        if (j->kind == Jump::begin && phase != 0 && phase != 3) continue;
        pattern.add_jump(from, reach(j->to, j->kind != Jump::end ? phase : phase == 0 || phase == 3 ? 3 : 2));
      }
      if (phase >= 2) continue;
      for (const CharEdge* e : edges[state]) pattern.add_edge(from, intersection(e->on, all_chars()), reach(e->to, 1));
    }
    return pattern;
  }

  RegexReading reading_;
  std::int32_t states_ = 0;
  std::vector<Jump> jumps_;
  std::vector<CharEdge> edges_;
};

}  // namespace

Pattern pattern_of_regex(std::string_view regex, RegexMatch match, RegexReading reading) {
  return PatternBuilder(reading).build(parse_regex(regex, reading), match);
}

}  // namespace tril::search
