#include "grammar/automata/constraint.h"

#include <algorithm>
#include <array>
#include <limits>
#include <unordered_map>
#include <utility>

#include "base/allowed.h"
#include "base/element.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/number_text.h"
#include "grammar/automata/byte_automaton.h"
#include "grammar/automata/id_bits.h"

namespace tril::search {
namespace {

constexpr std::int32_t dead = ByteAutomaton::dead, unknown = -1;
constexpr std::int64_t cannot_be_spelt = std::numeric_limits<std::int64_t>::max() / 2;

// Ids as a list while they are few, and as bits when those are smaller.
class IdSet {
 public:
  explicit IdSet(std::vector<std::int32_t> ids, std::size_t words) : count_(std::ssize(ids)), ids_(std::move(ids)) {
    if (ids_.size() <= 2 * words) return;
    bits_.assign(words, 0);
    for (const std::int32_t id : ids_) set_bit(bits_, id);
    ids_ = {};
  }
  std::int64_t count() const { return count_; }
  std::size_t size_in_bytes() const { return ids_.size() * sizeof ids_[0] + bits_.size() * sizeof bits_[0]; }
  void add_to(std::vector<std::uint64_t>& mask) const {
    for (std::size_t word = 0; word < bits_.size(); ++word) mask[word] |= bits_[word];
    for (const std::int32_t id : ids_) set_bit(mask, id);
  }

 private:
  std::int64_t count_;
  std::vector<std::int32_t> ids_;
  std::vector<std::uint64_t> bits_;
};

// Tokens that lead to the same state.
struct Group {
  std::int32_t to;
  IdSet ids;
};

}  // namespace

// What the automaton over bytes says of tokens.
class Constraint::Automaton {
 public:
  Automaton(Grammar grammar, std::shared_ptr<const TokenTrie> tokens)
      : bytes_(std::move(grammar)), tokens_(std::move(tokens)) {
    for (std::size_t kind = 0; kind < TokenTrie::kinds; ++kind) find_ways(tokens_->plain(kind).character());
  }

  ByteAutomaton& bytes() { return bytes_; }

  /// The fewest tokens that spell the shortest continuation (the lowest bytes break ties), and the first of them.
  struct Way {
    std::int64_t tokens = 0;
    std::int32_t first = -1;
  };
  Way way(std::int32_t state) {
    if (bytes_.bytes_left(state) == 0) return {};
    std::vector<std::int32_t> along;  // the shortest continuation passes through these, up to one that is known
    for (std::int32_t at = state; bytes_.bytes_left(at) > 0 && !ways_.contains(at); at = ending(at).to)
      along.push_back(at);
    for (auto at = along.rbegin(); at != along.rend(); ++at) ways_.emplace(*at, first_of_way(*at));
    const Way way = ways_.at(state);
    check(way.tokens < cannot_be_spelt, "constraint", "the vocabulary cannot spell what it requires");
    return way;
  }

  /// The tokens that may follow a state. Those of the plain text that may follow, whatever its characters, are counted
  /// by their characters; the others are grouped by the state that they lead to: the tokens left decide over a whole
  /// group.
  struct Followers {
    std::size_t kind = 0;                   ///< of plain text
    std::vector<std::int32_t> after_plain;  ///< the states after 1, 2, ... characters of it
    bool no_longer_plain = false;           ///< no plain token of more characters may follow
    std::vector<Group> groups;              ///< of the other tokens
    IdSet others{{}, 0};                    ///< all of the groups
    std::int64_t worst = 0;                 ///< at least the most bytes left after any of them
  };
  const Followers& followers(std::int32_t state) {
    if (const auto found = followers_.find(state); found != followers_.end()) return found->second;
    Followers best = after_plain(state, 0);
    for (std::size_t kind = 1; kind < TokenTrie::kinds; ++kind)
      if (Followers other = after_plain(state, kind); plain_count(other) > plain_count(best)) best = std::move(other);
    return keep(followers_, state, with_groups(state, std::move(best)));
  }
  /// All of them in groups.
  const Followers& grouped_followers(std::int32_t state) {
    const Followers& usual = followers(state);
    // Where one state follows each number of characters, the plain tokens of that number are a group.
    const bool single =
        std::find(usual.after_plain.begin(), usual.after_plain.end(), several) == usual.after_plain.end();
    if (single) return usual;
    if (const auto found = grouped_followers_.find(state); found != grouped_followers_.end()) return found->second;
    return keep(grouped_followers_, state, with_groups(state, {}));
  }

  bool can_end_within(std::int32_t state, std::int64_t left) {
    return bytes_.bytes_left(state) <= left ||
           (left > 0 && fewest_by_bytes(state) <= left && way(state).tokens <= left);
  }
  /// A lower bound of the tokens of any ending: as if every token were as long as the longest.
  std::int64_t fewest_by_bytes(std::int32_t state) const {
    const auto longest = static_cast<std::int64_t>(std::max<std::size_t>(1, tokens_->longest()));
    return (bytes_.bytes_left(state) + longest - 1) / longest;
  }

  std::int32_t& known_after(std::uint64_t text) { return after_.try_emplace(text, unknown).first->second; }

  /// Forgets everything once a limit is exceeded; state numbers from before are then invalid.
  void keep_within(std::size_t states, std::size_t mask_bytes) {
    if (bytes_.states() <= states && mask_bytes_ <= mask_bytes && after_.size() <= 1'000'000 &&
        bytes_.stacks() <= 4 * states)
      return;
    bytes_.forget();
    followers_.clear(), grouped_followers_.clear(), ways_.clear(), endings_.clear(), after_.clear();
    for (auto& known : after_character_) known.clear();
    mask_bytes_ = 0;
  }

 private:
  static constexpr std::int32_t several = -1;  // in after_plain: different characters lead to different states
  // Beyond so many different states, following tokens one by one costs less.
  static constexpr std::size_t most_after_plain = 64, most_pending = 200;

  struct PlainByte {
    unsigned char byte;
    std::int32_t to;  // in the automaton of a plain character
  };
  // The next byte of the shortest continuation, and the state after it.
  struct Ending {
    unsigned char byte;
    std::int32_t to;
  };
  using FollowersByState = std::unordered_map<std::int32_t, Followers>;

  // A byte for each way that both a plain character and the grammar may tell apart.
  void find_ways(const CharBytes& character) {
    auto& ways = plain_bytes_.emplace_back(as_size(character.states()));
    for (std::int32_t at = 0; at < character.states(); ++at) {
      std::vector<PlainByte>& list = element(ways, at);
      for (std::size_t b = 0; b < 256; ++b) {
        const auto byte = static_cast<unsigned char>(b);
        const std::int32_t to = character.next(at, byte);
        const bool known = std::any_of(list.begin(), list.end(), [&](const PlainByte& other) {
          return other.to == to && bytes_.classes().of[other.byte] == bytes_.classes().of[byte];
        });
        if (to != CharBytes::none && !known) list.push_back({byte, to});
      }
    }
  }

  Ending ending(std::int32_t state) {
    if (const auto found = endings_.find(state); found != endings_.end()) return found->second;
    Ending best{0, dead};
    for (const unsigned char byte : bytes_.lowest_bytes()) {
      const std::int32_t to = bytes_.next(state, byte);
      if (to == dead || bytes_.bytes_left(to) != bytes_.bytes_left(state) - 1) continue;
      best = {byte, to};
      break;
    }
    return endings_.emplace(state, best).first->second;
  }

  // The ways from all later states of the shortest continuation are known.
  Way first_of_way(std::int32_t state) {
    Way best{cannot_be_spelt, -1};
    const TokenTrie::Node* node = &tokens_->node(0);
    for (std::int32_t at = state; bytes_.bytes_left(at) > 0;) {
      const Ending next = ending(at);
      node = tokens_->child(*node, next.byte);
      if (!node) break;
      at = next.to;
      const std::int64_t rest = bytes_.bytes_left(at) == 0 ? 0 : ways_.at(at).tokens;
      if (node->tokens > 0 && rest + 1 < best.tokens) best = {rest + 1, tokens_->ids(*node)[0]};
    }
    return best;
  }

  // The states after one plain character; none if some plain character may not follow.
  const std::vector<std::int32_t>& after_character(std::int32_t state, std::size_t kind) {
    const auto [found, fresh] = after_character_[kind].try_emplace(state);
    if (!fresh) return found->second;
    std::vector<std::int32_t> reached;
    std::vector<std::pair<std::int32_t, std::int32_t>> pending{{CharBytes::start, state}};
    for (std::size_t p = 0; p < pending.size(); ++p) {
      const auto [at, from] = pending[p];
      for (const PlainByte& b : element(plain_bytes_[kind], at)) {
        const std::int32_t to = bytes_.next(from, b.byte);
        if (to == dead || pending.size() > most_pending) return found->second;
        if (b.to == CharBytes::whole)
          reached.push_back(to);
        else if (std::find(pending.begin(), pending.end(), std::pair{b.to, to}) == pending.end())
          pending.emplace_back(b.to, to);
      }
    }
    std::sort(reached.begin(), reached.end());
    reached.erase(std::unique(reached.begin(), reached.end()), reached.end());
    return found->second = std::move(reached);
  }

  bool may_follow(std::int32_t state, std::size_t kind) {
    const std::vector<PlainByte>& first = element(plain_bytes_[kind], CharBytes::start);
    return std::any_of(first.begin(), first.end(),
                       [&](const PlainByte& b) { return bytes_.next(state, b.byte) != dead; });
  }

  std::int64_t plain_count(const Followers& found) const {
    return tokens_->plain(found.kind).count_up_to(std::ssize(found.after_plain));
  }

  // Followers of one kind of plain text alone.
  Followers after_plain(std::int32_t state, std::size_t kind) {
    Followers found{.kind = kind};
    std::vector<std::int32_t> now{state}, then;
    for (std::int64_t chars = 1; chars <= tokens_->plain(kind).most_chars(); ++chars) {
      then.clear();
      for (const std::int32_t from : now) {
        const std::vector<std::int32_t>& reached = after_character(from, kind);
        if (reached.empty()) {
          // All states have seen as many characters, so that a longest length ends them all.
          found.no_longer_plain = std::none_of(now.begin(), now.end(), [&](auto at) { return may_follow(at, kind); });
          return found;
        }
        then.insert(then.end(), reached.begin(), reached.end());
      }
      std::sort(then.begin(), then.end());
      then.erase(std::unique(then.begin(), then.end()), then.end());
      if (then.size() > most_after_plain) return found;
      for (const std::int32_t to : then) found.worst = std::max(found.worst, bytes_.bytes_left(to));
      found.after_plain.push_back(then.size() == 1 ? then[0] : several);
      std::swap(now, then);
    }
    found.no_longer_plain = true;
    return found;
  }

  const Followers& keep(FollowersByState& kept, std::int32_t state, Followers made) {
    mask_bytes_ += made.others.size_in_bytes();
    for (const Group& g : made.groups) mask_bytes_ += sizeof(Group) + g.ids.size_in_bytes();
    return kept.emplace(state, std::move(made)).first->second;
  }

  // Walks the trie: all tokens but the plain ones of at most as many characters as `found` knows the states after. If no
  // others that are plain may follow, the walk leaves out what leads to plain tokens alone.
  Followers with_groups(std::int32_t state, Followers found) {
    const std::size_t words = words_for(tokens_->size());
    const std::int64_t known_chars = std::ssize(found.after_plain);
    const std::size_t kind = found.kind;
    std::vector<std::int32_t> to_of_group, all;
    std::vector<std::vector<std::int32_t>> ids;  // of each group
    const auto trie = found.no_longer_plain ? tokens_->nodes_to_mixed(kind) : tokens_->nodes();
    std::vector<std::pair<const TokenTrie::Node*, std::int32_t>> pending{{trie.data(), state}};
    while (!pending.empty()) {
      const auto [parent, from] = pending.back();
      pending.pop_back();
      for (const TokenTrie::Node& node : parent->children_in(trie)) {
        if (node.most_plain_chars[kind] <= known_chars) continue;
        const std::int32_t to = bytes_.next(from, node.byte);
        if (to == dead) continue;
        if (node.children > 0) pending.emplace_back(&node, to);
        if (node.tokens == 0 || (node.plain_chars[kind] > 0 && node.plain_chars[kind] <= known_chars)) continue;
        if (as_size(to) >= group_of_.size()) group_of_.resize(bytes_.states(), -1);
        std::int32_t& group = element(group_of_, to);
        if (group < 0) {
          group = static_cast<std::int32_t>(ids.size());
          to_of_group.push_back(to), ids.emplace_back();
          found.worst = std::max(found.worst, bytes_.bytes_left(to));
        }
        const std::span<const std::int32_t> here = tokens_->ids(node);
        element(ids, group).insert(element(ids, group).end(), here.begin(), here.end());
      }
    }
    for (std::size_t g = 0; g < ids.size(); ++g) {
      element(group_of_, to_of_group[g]) = -1;
      all.insert(all.end(), ids[g].begin(), ids[g].end());
      found.groups.push_back({to_of_group[g], IdSet(std::move(ids[g]), words)});
    }
    found.others = IdSet(std::move(all), words);
    return found;
  }

  ByteAutomaton bytes_;
  std::shared_ptr<const TokenTrie> tokens_;
  std::vector<std::vector<std::vector<PlainByte>>> plain_bytes_;  // by kind and state of a plain character
  std::vector<std::int32_t> group_of_;  // of a walk, by state; -1: none, as for all states between walks
  FollowersByState followers_, grouped_followers_;
  std::size_t mask_bytes_ = 0;
  std::unordered_map<std::int32_t, Way> ways_;
  std::unordered_map<std::int32_t, Ending> endings_;
  std::array<std::unordered_map<std::int32_t, std::vector<std::int32_t>>, TokenTrie::kinds> after_character_;
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
  return automaton_->bytes().states();
}

std::int64_t Constraint::least_tokens() const {
  constexpr std::int64_t most_spelt = 1 << 16;  // bytes
  const std::lock_guard lock(mutex_);
  const std::int32_t start = automaton_->bytes().start();
  return automaton_->bytes().bytes_left(start) > most_spelt ? automaton_->fewest_by_bytes(start)
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
  ByteAutomaton& bytes = automaton_->bytes();
  const std::int32_t state = bytes.next(bytes.start(), text);
  return state != dead && bytes.complete(state);
}

// A row's text is its previous text plus one token, so the state of all tokens but the last is usually known.
std::int32_t Constraint::state_after(std::span<const std::int32_t> tokens) const {
  Hash hash;
  std::uint64_t before = 0;
  for (const std::int32_t token : tokens) before = hash.value(), hash.add(std::int64_t{token});
  if (const std::int32_t state = automaton_->known_after(hash.value()); state != unknown) return state;
  const auto after_token = [&](std::int32_t state, std::int32_t token) {
    const bool has_text = token >= 0 && token < tokens_->size() && !tokens_->bytes(token).empty();
    return has_text && state != dead ? automaton_->bytes().next(state, tokens_->bytes(token)) : dead;
  };
  std::int32_t state = automaton_->bytes().start();
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
  allowed.complete = automaton_->bytes().complete(state);
  if (automaton_->fewest_by_bytes(state) <= left) allowed.shortest = automaton_->way(state).first;
  if (left <= 0) return allowed;
  const std::size_t words = words_for(tokens_->size());
  if (const Automaton::Followers& all = automaton_->followers(state); all.worst <= left - 1) {
    const PlainTokens& plain = tokens_->plain(all.kind);
    const std::int64_t chars = std::ssize(all.after_plain);
    allowed.count = plain.count_up_to(chars) + all.others.count();
    if (allowed.count == 0) return allowed;
    const std::span<const std::uint64_t> mask = plain.mask_up_to(chars);
    allowed.mask.assign(mask.begin(), mask.end());
    all.others.add_to(allowed.mask);
    return allowed;
  }
  const auto add = [&](std::int64_t count, auto&& add_to) {
    allowed.count += count;
    allowed.mask.resize(words);
    add_to(allowed.mask);
  };
  const Automaton::Followers& all = automaton_->grouped_followers(state);
  for (std::int64_t chars = 1; chars <= std::ssize(all.after_plain); ++chars) {
    const std::span<const std::int32_t> ids = tokens_->plain(all.kind).ids(chars);
    if (!ids.empty() && automaton_->can_end_within(element(all.after_plain, chars - 1), left - 1))
      add(std::ssize(ids), [&](auto& mask) {
        for (const std::int32_t id : ids) set_bit(mask, id);
      });
  }
  for (const Group& g : all.groups)
    if (automaton_->can_end_within(g.to, left - 1)) add(g.ids.count(), [&](auto& mask) { g.ids.add_to(mask); });
  return allowed;
}

}  // namespace tril::search
