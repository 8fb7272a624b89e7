#include "grammar/automata/constraint.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/allowed.h"
#include "base/element.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/number_text.h"

namespace tril::search {
namespace {

constexpr std::int32_t dead = 0, unknown = -1;

struct PairHash {
  std::size_t operator()(std::pair<std::int32_t, std::int32_t> p) const {
    const auto both = static_cast<std::uint64_t>(static_cast<std::uint32_t>(p.first)) << 32 |
                      static_cast<std::uint64_t>(static_cast<std::uint32_t>(p.second));
    return static_cast<std::size_t>((both ^ both >> 29) * 0xbf58476d1ce4e5b9ull);
  }
};

void set_bit(std::vector<std::uint64_t>& bits, std::int32_t id) {
  element(bits, id / 64) |= std::uint64_t{1} << id % 64;
}

}  // namespace

// The automaton's states, each a set of (place in the grammar, stack).
class Constraint::Automaton {
 public:
  Automaton(Grammar grammar, std::shared_ptr<const TokenTrie> tokens)
      : grammar_(std::move(grammar)),
        tokens_(std::move(tokens)),
        classes_(grammar_.byte_classes()),
        distance_(grammar_.distances()) {
    forget();
  }

  std::int32_t start() const { return start_; }

  std::int32_t next(std::int32_t state, unsigned char byte) {
    const std::size_t cell = static_cast<std::size_t>(state) * classes_.count + classes_.of[byte];
    if (next_[cell] == unknown) {
      const std::int32_t to = make_next(state, byte);
      next_[cell] = to;
    }
    return next_[cell];
  }

  std::int32_t next(std::int32_t state, std::string_view bytes) {
    for (const char byte : bytes) {
      if (state == dead) return dead;
      state = next(state, static_cast<unsigned char>(byte));
    }
    return state;
  }

  bool complete(std::int32_t state) const { return element(states_, state).complete; }
  /// Bytes of the shortest continuation that ends the text.
  std::int64_t bytes_left(std::int32_t state) const { return element(states_, state).bytes_left; }

  /// The fewest tokens that spell the shortest continuation (the lowest bytes break ties), and the first of them.
  TokenTrie::Cover way(std::int32_t state) {
    if (bytes_left(state) == 0) return {};
    const auto found = ways_.find(state);
    if (found != ways_.end()) return found->second;
    std::string text;
    for (std::int32_t at = state; bytes_left(at) > 0;) {
      std::int32_t best = dead;
      unsigned char by = 0;
      for (int byte = 0; byte < 256 && best == dead; ++byte) {
        const std::int32_t to = next(at, static_cast<unsigned char>(byte));
        if (to != dead && bytes_left(to) == bytes_left(at) - 1) best = to, by = static_cast<unsigned char>(byte);
      }
      text += static_cast<char>(by);
      at = best;
    }
    TokenTrie::Cover cover = tokens_->cover(text);
    check(cover.tokens > 0, "constraint", "the vocabulary cannot spell what it requires");
    ways_.emplace(state, cover);
    return cover;
  }

  /// Tokens that lead to the same state.
  struct Group {
    std::int32_t to = dead;
    std::int64_t count = 0;
    std::vector<std::int32_t> ids;    ///< when few
    std::vector<std::uint64_t> bits;  ///< when many: a bit for each id
  };
  /// The tokens that may follow a state, grouped by the state they lead to: the tokens left decide over a whole group.
  struct Followers {
    std::vector<Group> groups;
    std::vector<std::uint64_t> all;
    std::int64_t count = 0;
    std::int64_t worst = 0;  ///< the most bytes left after any of them
  };

  const Followers& followers(std::int32_t state) {
    const auto found = followers_.find(state);
    if (found != followers_.end()) return found->second;
    Followers made = walk(state);
    mask_bytes_ += made.all.size() * sizeof(std::uint64_t);
    for (const Group& g : made.groups)
      mask_bytes_ += sizeof(Group) + g.ids.size() * sizeof(std::int32_t) + g.bits.size() * sizeof(std::uint64_t);
    return followers_.emplace(state, std::move(made)).first->second;
  }

  bool can_end_within(std::int32_t state, std::int64_t left) {
    return bytes_left(state) <= left || (left > 0 && fewest_by_bytes(state) <= left && way(state).tokens <= left);
  }
  /// A lower bound of the tokens of any ending: as if every token were as long as the longest.
  std::int64_t fewest_by_bytes(std::int32_t state) const {
    const auto longest = static_cast<std::int64_t>(std::max<std::size_t>(1, tokens_->longest()));
    return (bytes_left(state) + longest - 1) / longest;
  }

  std::int32_t& known_after(std::uint64_t text) { return after_.try_emplace(text, unknown).first->second; }

  /// Forgets everything once a limit is exceeded; state numbers from before are then invalid.
  void keep_within(std::size_t states, std::size_t mask_bytes) {
    if (states_.size() > states || mask_bytes_ > mask_bytes || after_.size() > 1'000'000 || stacks_.size() > 4 * states)
      forget();
  }
  std::size_t size() const { return states_.size(); }

 private:
  struct Item {
    std::int32_t at, stack;
    friend auto operator<=>(const Item&, const Item&) = default;
  };
  struct State {
    std::vector<Item> items;  ///< those with an outgoing byte edge, ascending
    bool complete = false;
    std::int64_t bytes_left = Grammar::never;
  };
  struct Stack {
    std::int32_t at, below;   ///< where to continue when the rule ends; -1: no frame below
    std::int64_t bytes_left;  ///< from there to the end of the text
  };

  std::int64_t distance(std::int32_t at) const { return element(distance_, at); }

  void forget() {
    states_.clear(), next_.clear(), numbers_.clear(), stacks_.clear(), stack_numbers_.clear();
    followers_.clear(), ways_.clear(), after_.clear();
    mask_bytes_ = 0;
    states_.emplace_back();  // the dead state
    next_.assign(classes_.count, dead);
    start_ = number_of(closure({{grammar_.rule(0).start, -1}}));
  }

  // A few rules may describe texts of more bytes than fit into an integer.
  static std::int64_t sum(std::int64_t a, std::int64_t b) { return std::min(Grammar::never - 1, a + b); }

  std::int32_t pushed(std::int32_t at, std::int32_t below) {
    const auto [found, fresh] = stack_numbers_.try_emplace({at, below}, static_cast<std::int32_t>(stacks_.size()));
    if (fresh) stacks_.push_back({at, below, sum(distance(at), below < 0 ? 0 : element(stacks_, below).bytes_left)});
    return found->second;
  }

  // Everything reachable without a byte; places without outgoing edges are left out.
  State closure(std::vector<Item> pending) {
    State state;
    std::unordered_set<std::pair<std::int32_t, std::int32_t>, PairHash> seen;
    while (!pending.empty()) {
      const Item item = pending.back();
      pending.pop_back();
      if (distance(item.at) >= Grammar::never || !seen.insert({item.at, item.stack}).second) continue;
      const Grammar::State& place = grammar_.state(item.at);
      if (place.ends_rule) {
        if (item.stack < 0) {
          state.complete = true;
        } else {
          const Stack& top = element(stacks_, item.stack);
          pending.push_back({top.at, top.below});
        }
      }
      for (const std::int32_t to : place.jumps) pending.push_back({to, item.stack});
      for (const Grammar::Call& call : place.calls)
        if (distance(call.to) < Grammar::never && distance(grammar_.rule(call.rule).start) < Grammar::never)
          pending.push_back({grammar_.rule(call.rule).start, pushed(call.to, item.stack)});
      if (!place.edges.empty()) state.items.push_back(item);
    }
    std::sort(state.items.begin(), state.items.end());
    return state;
  }

  std::int32_t number_of(State state) {
    if (state.items.empty() && !state.complete) return dead;
    Hash hash;
    hash.add(std::int64_t{state.complete});
    for (const Item& item : state.items) hash.add(static_cast<std::int64_t>(item.at) << 32 | (item.stack + 1));
    std::vector<std::int32_t>& same = numbers_[hash.value()];
    for (const std::int32_t n : same) {
      const State& other = element(states_, n);
      if (other.complete == state.complete && other.items == state.items) return n;
    }
    if (state.complete) state.bytes_left = 0;
    for (const Item& item : state.items)
      state.bytes_left = std::min(state.bytes_left,
                                  sum(distance(item.at), item.stack < 0 ? 0 : element(stacks_, item.stack).bytes_left));
    const auto number = static_cast<std::int32_t>(states_.size());
    states_.push_back(std::move(state));
    next_.resize(next_.size() + classes_.count, unknown);
    same.push_back(number);
    return number;
  }

  std::int32_t make_next(std::int32_t state, unsigned char byte) {
    std::vector<Item> reached;
    for (const Item& item : element(states_, state).items)
      for (const Grammar::Edge& e : grammar_.state(item.at).edges)
        if (byte >= e.least && byte <= e.most) reached.push_back({e.to, item.stack});
    return reached.empty() ? dead : number_of(closure(std::move(reached)));
  }

  Followers walk(std::int32_t state) {
    const std::size_t words = (static_cast<std::size_t>(tokens_->size()) + 63) / 64;
    Followers found{{}, std::vector<std::uint64_t>(words, 0)};
    std::unordered_map<std::int32_t, std::size_t> group_of;
    std::vector<std::int32_t> path(tokens_->longest() + 1);
    path[0] = state;
    const std::span<const TokenTrie::Node> nodes = tokens_->nodes();
    std::int32_t last = dead;  // the group is usually the same as the last
    std::size_t group = 0;
    for (std::size_t i = 0; i < nodes.size();) {
      const TokenTrie::Node& node = nodes[i];
      const std::int32_t to = next(path[node.depth], node.byte);
      if (to == dead) {
        i = static_cast<std::size_t>(node.end);
        continue;
      }
      path[node.depth + std::size_t{1}] = to;
      ++i;
      if (node.tokens == 0) continue;
      if (to != last) {
        last = to;
        const auto [at, fresh] = group_of.try_emplace(to, found.groups.size());
        if (fresh) {
          found.groups.push_back({to, 0, {}, {}});
          found.worst = std::max(found.worst, bytes_left(to));
        }
        group = at->second;
      }
      for (std::int32_t t = node.first_token; t < node.first_token + node.tokens; ++t)
        found.groups[group].ids.push_back(element(tokens_->ids(), t));
    }
    for (Group& g : found.groups) {
      g.count = std::ssize(g.ids);
      found.count += g.count;
      for (const std::int32_t id : g.ids) set_bit(found.all, id);
      if (g.ids.size() <= 2 * words) continue;
      g.bits.assign(words, 0);
      for (const std::int32_t id : g.ids) set_bit(g.bits, id);
      g.ids = {};
    }
    return found;
  }

  Grammar grammar_;
  std::shared_ptr<const TokenTrie> tokens_;
  Grammar::ByteClasses classes_;
  std::vector<std::int64_t> distance_;
  std::int32_t start_ = dead;
  std::vector<State> states_;
  std::vector<std::int32_t> next_;  // [states, byte classes]
  std::unordered_map<std::uint64_t, std::vector<std::int32_t>> numbers_;
  std::vector<Stack> stacks_;
  std::unordered_map<std::pair<std::int32_t, std::int32_t>, std::int32_t, PairHash> stack_numbers_;
  std::unordered_map<std::int32_t, Followers> followers_;
  std::size_t mask_bytes_ = 0;
  std::unordered_map<std::int32_t, TokenTrie::Cover> ways_;
  std::unordered_map<std::uint64_t, std::int32_t> after_;  // by the hash of the tokens so far
};

Constraint::Constraint(Grammar grammar, std::shared_ptr<const TokenTrie> tokens)
    : tokens_(std::move(tokens)), automaton_(std::make_unique<Automaton>(std::move(grammar), tokens_)) {}

Constraint::~Constraint() = default;

void Constraint::limit(std::size_t states, std::size_t mask_bytes) {
  const std::lock_guard lock(mutex_);
  most_states_ = states, most_mask_bytes_ = mask_bytes;
}

std::size_t Constraint::states() const {
  const std::lock_guard lock(mutex_);
  return automaton_->size();
}

std::int64_t Constraint::least_tokens() const {
  constexpr std::int64_t most_spelt = 1 << 16;  // bytes
  const std::lock_guard lock(mutex_);
  const std::int32_t start = automaton_->start();
  return automaton_->bytes_left(start) > most_spelt ? automaton_->fewest_by_bytes(start)
                                                    : automaton_->way(start).tokens;
}

void Constraint::check_room(std::int64_t tokens, bool ends) const {
  const std::int64_t least = least_tokens() + (ends ? 1 : 0);
  check(least <= tokens, "constraint", "the shortest text that it allows has {}{}, but {}: allow more",
        counted(least, "token"), ends ? " with its end token" : "", allowed(tokens));
}

bool Constraint::allows(std::string_view text) const {
  const std::lock_guard lock(mutex_);
  automaton_->keep_within(most_states_, most_mask_bytes_);
  const std::int32_t state = automaton_->next(automaton_->start(), text);
  return state != dead && automaton_->complete(state);
}

// A row's text is its previous text plus one token, so the state of all tokens but the last is usually known.
std::int32_t Constraint::state_after(std::span<const std::int32_t> tokens) const {
  Hash hash;
  std::uint64_t before = 0;
  for (const std::int32_t token : tokens) before = hash.value(), hash.add(std::int64_t{token});
  if (const std::int32_t state = automaton_->known_after(hash.value()); state != unknown) return state;
  const auto after_token = [&](std::int32_t state, std::int32_t token) {
    const bool has_text = token >= 0 && token < tokens_->size() && !tokens_->bytes(token).empty();
    return has_text && state != dead ? automaton_->next(state, tokens_->bytes(token)) : dead;
  };
  std::int32_t state = automaton_->start();
  if (const std::int32_t known = tokens.empty() ? unknown : automaton_->known_after(before); known != unknown)
    state = after_token(known, tokens.back());
  else
    for (const std::int32_t token : tokens) state = after_token(state, token);
  return automaton_->known_after(hash.value()) = state;
}

Constraint::Allowed Constraint::after(std::span<const std::int32_t> tokens, std::int64_t left) const {
  const std::lock_guard lock(mutex_);
  automaton_->keep_within(most_states_, most_mask_bytes_);
  const std::int32_t state = state_after(tokens);
  Allowed allowed;
  if (state == dead) return allowed;
  allowed.possible = true;
  allowed.complete = automaton_->complete(state);
  if (automaton_->fewest_by_bytes(state) <= left) allowed.shortest = automaton_->way(state).first;
  if (left <= 0) return allowed;
  const Automaton::Followers& all = automaton_->followers(state);
  if (all.worst <= left - 1) {
    allowed.count = all.count;
    if (all.count > 0) allowed.mask = all.all;
    return allowed;
  }
  for (const Automaton::Group& g : all.groups) {
    if (!automaton_->can_end_within(g.to, left - 1)) continue;
    allowed.count += g.count;
    allowed.mask.resize(all.all.size(), 0);
    for (std::size_t word = 0; word < g.bits.size(); ++word) allowed.mask[word] |= g.bits[word];
    for (const std::int32_t id : g.ids) set_bit(allowed.mask, id);
  }
  return allowed;
}

}  // namespace tril::search
