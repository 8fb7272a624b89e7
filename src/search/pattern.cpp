#include "search/pattern.h"

#include <algorithm>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "base/printable.h"

namespace tril::search {
namespace {

constexpr std::int64_t most_repeats = 100'000;
constexpr int deepest = 200;

const CharSet digits{{'0', '9'}};
const CharSet word_chars{{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
const CharSet spaces{{'\t', '\r'},     {' ', ' '},       {0xa0, 0xa0},     {0x1680, 0x1680}, {0x2000, 0x200a},
                     {0x2028, 0x2029}, {0x202f, 0x202f}, {0x205f, 0x205f}, {0x3000, 0x3000}, {0xfeff, 0xfeff}};
const CharSet ascii_spaces{{'\t', '\r'}, {' ', ' '}};
const CharSet line_ends{{'\n', '\n'}, {'\r', '\r'}, {0x2028, 0x2029}};

}  // namespace

CharSet all_chars() {
  return {{0, 0xd7ff}, {0xe000, last_char}};
}

CharSet normalized(CharSet ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const CharRange& a, const CharRange& b) { return a.least < b.least; });
  CharSet set;
  for (const CharRange& r : ranges)
    if (!set.empty() && r.least <= set.back().most + 1)
      set.back().most = std::max(set.back().most, r.most);
    else
      set.push_back(r);
  return set;
}

CharSet intersection(const CharSet& a, const CharSet& b) {
  CharSet both;
  for (auto x = a.begin(), y = b.begin(); x != a.end() && y != b.end();) {
    const char32_t least = std::max(x->least, y->least), most = std::min(x->most, y->most);
    if (least <= most) both.push_back({least, most});
    x->most < y->most ? void(++x) : void(++y);
  }
  return both;
}

CharSet complement(const CharSet& a) {
  CharSet gaps;
  char32_t next = 0;
  for (const CharRange& r : a) {
    if (r.least > next) gaps.push_back({next, r.least - 1});
    next = r.most + 1;
  }
  if (next <= last_char) gaps.push_back({next, last_char});
  return intersection(gaps, all_chars());
}

std::u32string code_points(std::string_view text, std::string_view what) {
  std::u32string points;
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const std::size_t n = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    char32_t point = n == 1 ? lead : lead & (0x7fu >> n);
    bool good = lead < 0x80 || (lead >= 0xc2 && lead < 0xf5);
    for (std::size_t k = 1; good && k < n; ++k) {
      good = i + k < text.size() && (static_cast<unsigned char>(text[i + k]) & 0xc0) == 0x80;
      if (good) point = point << 6 | (static_cast<unsigned char>(text[i + k]) & 0x3f);
    }
    constexpr char32_t least_of[] = {0, 0, 0x80, 0x800, 0x10000};
    good = good && point >= least_of[n] && point <= last_char && (point < 0xd800 || point > 0xdfff);
    check(good, what, "byte {} is not part of a UTF-8 character", i + 1);
    points.push_back(point);
    i += n;
  }
  return points;
}

std::int32_t Pattern::add_state() {
  check(states_.size() < most_states, "regular expression", "needs more than {} states", most_states);
  states_.emplace_back();
  return static_cast<std::int32_t>(states_.size()) - 1;
}

void Pattern::add_edge(std::int32_t from, CharSet on, std::int32_t to) {
  if (!on.empty()) states_[static_cast<std::size_t>(from)].edges.push_back({std::move(on), to});
}

void Pattern::add_jump(std::int32_t from, std::int32_t to) {
  states_[static_cast<std::size_t>(from)].jumps.push_back(to);
}

namespace {

struct Node {
  enum class Kind : std::uint8_t { nothing, chars, sequence, choice, repeat, begin, end } kind = Kind::nothing;
  CharSet chars = {};
  std::vector<Node> parts = {};
  std::int64_t least = 0, most = 0;  ///< of a repeat; most -1: any number
};

// Recursive descent: choice -> sequence -> repeat -> one.
class RegexParser {
 public:
  explicit RegexParser(std::string_view text) : text_(code_points(text, "regular expression")) {}

  Node parse() {
    Node node = choice();
    if (!done()) refuse("a ) that nothing opened");
    return node;
  }

 private:
  bool done() const { return at_ == text_.size(); }
  bool sees(std::u32string_view what) const { return text_.compare(at_, what.size(), what) == 0; }
  bool take(std::u32string_view what) {
    if (!sees(what)) return false;
    at_ += what.size();
    return true;
  }
  char32_t next(const char* expected) {
    if (done()) refuse(fmt::format("its end, where {} is expected", expected));
    return text_[at_++];
  }
  [[noreturn]] void refuse(const std::string& what) const {
    fail_usage("regular expression", fmt::format("character {}: {}", std::min(at_ + 1, text_.size()), what));
  }

  Node choice() {
    if (++depth_ > deepest) refuse(fmt::format("groups within more than {} groups", deepest));
    Node all{.kind = Node::Kind::choice};
    do all.parts.push_back(sequence());
    while (take(U"|"));
    --depth_;
    return all.parts.size() == 1 ? std::move(all.parts[0]) : std::move(all);
  }

  Node sequence() {
    Node all{.kind = Node::Kind::sequence};
    while (!done() && !sees(U"|") && !sees(U")")) all.parts.push_back(repeat());
    return all;
  }

  Node repeat() {
    Node node = one();
    while (!done()) {
      std::int64_t least = 0, most = -1;
      if (take(U"*")) {
      } else if (take(U"+")) {
        least = 1;
      } else if (take(U"?")) {
        most = 1;
      } else if (!counted(least, most)) {
        break;
      }
      if (node.kind == Node::Kind::begin || node.kind == Node::Kind::end) refuse("a repeat of ^ or $");
      take(U"?");  // as few as can be: the same texts
      if (sees(U"+")) refuse("a possessive repeat, which is not supported");
      if (node.kind == Node::Kind::repeat && ++depth_ > deepest) refuse("too many repeats of repeats");
      Node all{.kind = Node::Kind::repeat, .least = least, .most = most};
      all.parts.push_back(std::move(node));
      node = std::move(all);
    }
    return node;
  }

  // {n}, {n,}, {n,m}; anything else that begins with { is that character.
  bool counted(std::int64_t& least, std::int64_t& most) {
    const std::size_t from = at_;
    if (!take(U"{")) return false;
    const auto number = [&](std::int64_t& n) {
      const std::size_t first = at_;
      for (n = 0; !done() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_)
        n = std::min(n * 10 + static_cast<std::int64_t>(text_[at_] - '0'), most_repeats + 1);
      return at_ > first;
    };
    const bool first = number(least);
    most = least;
    if (first && take(U",") && !number(most)) most = -1;
    if (!first || !take(U"}")) {
      at_ = from;
      return false;
    }
    if (std::max(least, most) > most_repeats) refuse(fmt::format("a repeat of more than {} times", most_repeats));
    if (most >= 0 && most < least) refuse(fmt::format("a repeat of at least {} and at most {} times", least, most));
    return true;
  }

  static Node of(CharSet chars) { return {.kind = Node::Kind::chars, .chars = std::move(chars)}; }

  Node one() {
    const char32_t c = next("a character");
    switch (c) {
      case '(':
        return group();
      case '[':
        return of(char_class());
      case '.':
        return of(complement(line_ends));
      case '^':
        return {.kind = Node::Kind::begin};
      case '$':
        return {.kind = Node::Kind::end};
      case '\\':
        return of(escape());
      case '*':
      case '+':
      case '?':
        --at_;
        refuse("a repeat of nothing");
      default:
        return of({{c, c}});
    }
  }

  Node group() {
    if (take(U"?")) {
      if (sees(U"=") || sees(U"!") || sees(U"<=") || sees(U"<!"))
        refuse("look-ahead or look-behind, which is not supported");
      if (take(U"P<") || take(U"<")) {
        while (next("a > behind the group's name") != '>') {
        }
      } else if (!take(U":")) {
        refuse("a group of a kind that is not supported: write (?: ), (?<name> ) or ( )");
      }
    }
    Node inside = choice();
    if (!take(U")")) refuse("its end, where a ) is expected");
    return inside;
  }

  CharSet escape() {
    const char32_t c = next("what is escaped");
    switch (c) {
      case 'd':
        return digits;
      case 'D':
        return complement(digits);
      case 'w':
        return word_chars;
      case 'W':
        return complement(word_chars);
      case 's':
        return ascii_spaces;
      case 'S':
        return complement(spaces);
      default: {
        const char32_t one = escaped_char(c);
        return {{one, one}};
      }
    }
  }

  char32_t escaped_char(char32_t c) {
    constexpr std::pair<char, char> short_forms[] = {{'t', '\t'}, {'n', '\n'}, {'r', '\r'},
                                                     {'f', '\f'}, {'v', '\v'}, {'0', '\0'}};
    for (const auto& [name, value] : short_forms)
      if (c == static_cast<char32_t>(name)) return static_cast<char32_t>(value);
    if (c == 'x') return hexadecimal(2);
    if (c == 'u') return unicode();
    if (c >= '1' && c <= '9') refuse("a back reference, which is not supported");
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))
      refuse(fmt::format("\\{}, which is not supported", static_cast<char>(c)));
    return c;
  }

  char32_t hexadecimal(int count) {
    char32_t value = 0;
    for (int i = 0; i < count; ++i) {
      const char32_t c = next("a hexadecimal digit");
      const bool letter = (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
      if (!letter && (c < '0' || c > '9')) refuse("no hexadecimal digit where one is expected");
      value = value * 16 + (letter ? (c | 0x20) - 'a' + 10 : c - '0');
    }
    return value;
  }

  char32_t unicode() {
    char32_t value = 0;
    if (take(U"{")) {
      int count = 0;
      while (!sees(U"}") && count++ < 6) value = value * 16 + hexadecimal(1);
      if (count == 0 || !take(U"}")) refuse("no \\u{...} of one to six digits");
    } else {
      value = hexadecimal(4);
      if (value >= 0xd800 && value < 0xdc00 && take(U"\\u")) {  // a pair
        const char32_t low = hexadecimal(4);
        if (low < 0xdc00 || low > 0xdfff) refuse("half a pair of surrogates");
        value = 0x10000 + ((value - 0xd800) << 10) + (low - 0xdc00);
      }
    }
    if (value > last_char || (value >= 0xd800 && value <= 0xdfff)) refuse("no character");
    return value;
  }

  // Behind "[".
  CharSet char_class() {
    const bool negated = take(U"^");
    CharSet set;
    for (bool first = true; first || !sees(U"]"); first = false) {
      if (first && sees(U"]")) break;  // [] and [^], as ECMAScript has them
      if (sees(U"[:") || sees(U"&&") || sees(U"--")) refuse("a class of a kind that is not supported");
      const CharSet one = class_part();
      if (one.size() == 1 && one[0].least == one[0].most && sees(U"-") && at_ + 1 < text_.size() &&
          text_[at_ + 1] != ']') {
        ++at_;
        const CharSet other = class_part();
        if (other.size() != 1 || other[0].least != other[0].most || other[0].least < one[0].least)
          refuse("a range from a greater to a smaller character");
        set.push_back({one[0].least, other[0].least});
      } else {
        set.insert(set.end(), one.begin(), one.end());
      }
    }
    if (!take(U"]")) refuse("its end, where a ] is expected");
    set = intersection(normalized(std::move(set)), all_chars());
    return negated ? complement(set) : set;
  }

  CharSet class_part() {
    const char32_t c = next("a ]");
    if (c != '\\') return {{c, c}};
    if (sees(U"b")) {
      ++at_;
      return {{'\b', '\b'}};
    }
    return escape();
  }

  std::u32string text_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

// Thompson's construction [1968], with ^ and $ as jumps of their own kind, which are settled at the end: a text is at its
// beginning (phase 0), within (1), or at its end, where no character may follow (2), and each state stands for three.
class PatternBuilder {
 public:
  Pattern build(const Node& node, Pattern::Match match) {
    const std::int32_t start = add(), end = add();
    write(node, start, end);
    if (match == Pattern::Match::part) {  // what stands around a match
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

  std::int32_t add() {
    check(static_cast<std::size_t>(states_) < Pattern::most_states / 3, "regular expression",
          "needs more than {} states", Pattern::most_states / 3);
    return states_++;
  }

  void write(const Node& node, std::int32_t from, std::int32_t to) {
    switch (node.kind) {
      case Node::Kind::nothing:
        jumps_.push_back({from, to, Jump::plain});
        break;
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
    for (const Jump& j : jumps_) jumps[static_cast<std::size_t>(j.from)].push_back(&j);
    for (const CharEdge& e : edges_) edges[static_cast<std::size_t>(e.from)].push_back(&e);

    Pattern pattern;
    std::unordered_map<std::int64_t, std::int32_t> known{{start * std::int64_t{3}, pattern.start()}};
    std::vector<std::int64_t> pending{start * std::int64_t{3}};
    while (!pending.empty()) {
      const std::int64_t one = pending.back();
      pending.pop_back();
      const auto state = static_cast<std::size_t>(one / 3);
      const std::int64_t phase = one % 3;
      const std::int32_t from = known.at(one);
      const auto reach = [&](std::int32_t s, std::int64_t p) {
        const std::int64_t key = s * std::int64_t{3} + p;
        const auto found = known.find(key);
        if (found != known.end()) return found->second;
        pending.push_back(key);
        return known[key] = pattern.add_state();
      };
      if (static_cast<std::int32_t>(state) == end) pattern.add_jump(from, pattern.end());
      for (const Jump* j : jumps[state]) {
        if (j->kind == Jump::begin && phase != 0) continue;
        pattern.add_jump(from, reach(j->to, j->kind == Jump::end ? 2 : phase));
      }
      if (phase == 2) continue;
      for (const CharEdge* e : edges[state]) pattern.add_edge(from, intersection(e->on, all_chars()), reach(e->to, 1));
    }
    return pattern;
  }

  std::int32_t states_ = 0;
  std::vector<Jump> jumps_;
  std::vector<CharEdge> edges_;
};

Pattern Pattern::of_regex(std::string_view regex, Match match) {
  return PatternBuilder().build(RegexParser(regex).parse(), match);
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
    const std::int32_t loop = p.add_state();  // the start itself has no way back into it
    p.add_jump(at, loop);
    p.add_edge(loop, all_chars(), loop);
    at = loop;
  }
  p.add_jump(at, p.end());
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

// The texts' trie, which any other character leaves for good.
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
    p.add_edge(states[i], complement(normalized(known)), free);
    if (!trie[i].is_text) p.add_jump(states[i], p.end());
  }
  return p;
}

Pattern Pattern::operator&(const Pattern& other) const {
  Pattern both;
  const auto key = [&](std::int32_t a, std::int32_t b) {
    return static_cast<std::int64_t>(a) * static_cast<std::int64_t>(other.states_.size()) + b;
  };
  std::unordered_map<std::int64_t, std::int32_t> known{{key(start(), other.start()), both.start()},
                                                       {key(end(), other.end()), both.end()}};
  std::vector<std::pair<std::int32_t, std::int32_t>> pending{{start(), other.start()}};
  const auto reach = [&](std::int32_t a, std::int32_t b) {
    const auto [at, fresh] = known.try_emplace(key(a, b), 0);
    if (fresh) {
      at->second = both.add_state();
      pending.emplace_back(a, b);
    }
    return at->second;
  };
  while (!pending.empty()) {
    const auto [a, b] = pending.back();
    pending.pop_back();
    const std::int32_t from = known.at(key(a, b));
    const State &x = states_[static_cast<std::size_t>(a)], &y = other.states_[static_cast<std::size_t>(b)];
    for (const std::int32_t to : x.jumps) both.add_jump(from, reach(to, b));
    for (const std::int32_t to : y.jumps) both.add_jump(from, reach(a, to));
    for (const Edge& e : x.edges)
      for (const Edge& f : y.edges)
        if (CharSet on = intersection(e.on, f.on); !on.empty()) both.add_edge(from, std::move(on), reach(e.to, f.to));
  }
  return both;
}

bool Pattern::matches(std::string_view text) const {
  std::vector<char> live(states_.size(), 0);
  std::vector<std::int32_t> pending{start()};
  const auto close = [&] {
    while (!pending.empty()) {
      const auto s = static_cast<std::size_t>(pending.back());
      pending.pop_back();
      if (std::exchange(live[s], 1)) continue;
      pending.insert(pending.end(), states_[s].jumps.begin(), states_[s].jumps.end());
    }
  };
  close();
  for (const char32_t c : code_points(text, "text")) {
    for (std::size_t s = 0; s < states_.size(); ++s)
      if (live[s])
        for (const Edge& e : states_[s].edges)
          if (std::any_of(e.on.begin(), e.on.end(), [c](const CharRange& r) { return c >= r.least && c <= r.most; }))
            pending.push_back(e.to);
    std::fill(live.begin(), live.end(), 0);
    close();
  }
  return live[static_cast<std::size_t>(end())] != 0;
}

}  // namespace tril::search
