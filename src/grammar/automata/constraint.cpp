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
#include "grammar/automata/near_grammar.h"
#include "grammar/automata/token_followers.h"

namespace tril::search {
namespace {

constexpr std::int32_t dead = ByteAutomaton::dead, unknown = -1;
constexpr std::int64_t cannot_be_spelt = std::numeric_limits<std::int64_t>::max() / 2;

}  // namespace

// What the automaton over bytes says of tokens.
class Constraint::Automaton {
 public:
  Automaton(Grammar grammar, const std::shared_ptr<const TokenTrie>& tokens)
      : Automaton(near_grammars(grammar, lengths(*tokens)), grammar, tokens) {}

  ByteAutomaton& bytes() { return bytes_; }
  TokenFollowers& followers() { return followers_; }
  LongTokenFollowers& long_followers() { return long_followers_; }
  /// As these, but with states of near grammars, so that all counts that are far from their bounds share them. The bytes
  /// left after any of the tokens are fewer than twice as many as `worst`.
  const Followers& near_followers(std::int32_t state) { return near_followers_.of(near_.state(bytes_, state)); }
  const Followers& far_followers(std::int32_t state) { return far_followers_.of(far_.state(bytes_, state)); }

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
    const std::size_t kept = followers_.mask_bytes() + long_followers_.mask_bytes() + near_followers_.mask_bytes() +
                             far_followers_.mask_bytes();
    if (bytes_.states() + near_.bytes().states() + far_.bytes().states() <= states &&
        bytes_.stacks() + near_.bytes().stacks() + far_.bytes().stacks() <= 4 * states && kept <= mask_bytes &&
        after_.size() <= 1'000'000)
      return;
    bytes_.forget(), near_.forget(), far_.forget();
    followers_.forget(), long_followers_.forget(), near_followers_.forget(), far_followers_.forget();
    ways_.clear(), endings_.clear(), after_.clear();
  }

 private:
  // Bytes of the longest tokens that are not long, and of all.
  static std::array<std::int64_t, 2> lengths(const TokenTrie& tokens) {
    return {PlainTokens::longest, std::max(PlainTokens::longest, static_cast<std::int64_t>(tokens.longest()))};
  }
  Automaton(std::vector<NearGrammar> near, Grammar& whole, std::shared_ptr<const TokenTrie> tokens)
      : tokens_(std::move(tokens)),
        near_(std::move(near[0])),
        near_followers_(near_.bytes(), *tokens_),
        far_(std::move(near[1])),
        far_followers_(far_.bytes(), *tokens_),
        bytes_(std::move(whole)),
        followers_(bytes_, *tokens_),
        long_followers_(bytes_, *tokens_) {}

  // The next byte of the shortest continuation, and the state after it.
  struct Ending {
    unsigned char byte;
    std::int32_t to;
  };

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

  std::shared_ptr<const TokenTrie> tokens_;
  NearAutomaton near_;  // alike for tokens that are not long
  TokenFollowers near_followers_;
  NearAutomaton far_;  // alike for all tokens: counts must be farther from their bounds
  LongTokenFollowers far_followers_;
  ByteAutomaton bytes_;
  TokenFollowers followers_;
  LongTokenFollowers long_followers_;
  std::unordered_map<std::int32_t, Way> ways_;
  std::unordered_map<std::int32_t, Ending> endings_;
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
  if (left <= 0) return allowed;
  const std::size_t words = words_for(tokens_->size());
  const Followers &near = automaton_->near_followers(state), &far = automaton_->far_followers(state);
  if (2 * std::max(near.worst, far.worst) <= left) {
    allowed.count = near.plain_count + near.others.count() + far.others.count();
    if (allowed.count == 0) return allowed;
    if (near.plain) {
      const std::span<const std::uint64_t> most = tokens_->plain().up_to(std::ssize(near.after_plain));
      allowed.mask = *near.plain;
      for (std::size_t word = 0; word < words; ++word) allowed.mask[word] &= most[word];
    }
    allowed.mask.resize(words);
    near.others.add_to(allowed.mask), far.others.add_to(allowed.mask);
    return allowed;
  }
  const auto add = [&](std::int64_t count, auto&& add_to) {
    allowed.count += count;
    allowed.mask.resize(words);
    add_to(allowed.mask);
  };
  const Followers& all = automaton_->followers().grouped(state);
  for (std::int64_t chars = 1; chars <= std::ssize(all.after_plain); ++chars) {
    if (!automaton_->can_end_within(element(all.after_plain, chars - 1), left - 1)) continue;
    const std::vector<std::int32_t> ids = automaton_->followers().plain_ids(all, chars);
    if (!ids.empty())
      add(std::ssize(ids), [&](auto& mask) {
        for (const std::int32_t id : ids) set_bit(mask, id);
      });
  }
  for (const auto* const groups : {&all.groups, &automaton_->long_followers().of(state).groups})
    for (const Followers::Group& g : *groups)
      if (automaton_->can_end_within(g.to, left - 1)) add(g.ids.count(), [&](auto& mask) { g.ids.add_to(mask); });
  return allowed;
}

std::int32_t Constraint::shortest_after(std::span<const std::int32_t> tokens, std::int64_t left) const {
  const std::lock_guard lock(mutex_);
  automaton_->keep_within(most_states_, most_mask_bytes_);
  const std::int32_t state = state_after(tokens);
  return state == dead || automaton_->fewest_by_bytes(state) > left ? -1 : automaton_->way(state).first;
}

}  // namespace tril::search
