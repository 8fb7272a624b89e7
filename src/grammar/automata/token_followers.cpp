#include "grammar/automata/token_followers.h"

#include <algorithm>
#include <bit>
#include <span>
#include <string>
#include <utility>

#include "base/as_size.h"
#include "base/element.h"
#include "grammar/automata/id_bits.h"

namespace tril::search {
namespace {

// Beyond so many different states, following tokens one by one costs less.
constexpr std::size_t most_after_plain = 256, most_pending = 200;
// Of fewer characters there are few tokens, and one by one they cost less than the bits of a set.
constexpr std::size_t fewest_chars = 12;

void sort_unique(std::vector<std::int32_t>& list) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

bool has_bit(std::span<const std::uint64_t> bits, std::int32_t id) {
  return !bits.empty() && (bits[as_size(id / 64)] >> id % 64 & 1) != 0;
}

// Collects the groups of a walk.
class Groups {
 public:
  /// @param group_of  by state; -1 for all, as after the walk
  Groups(const ByteAutomaton& bytes, std::vector<std::int32_t>& group_of) : bytes_(&bytes), group_of_(&group_of) {}

  void add(std::int32_t to, std::span<const std::int32_t> ids) {
    if (as_size(to) >= group_of_->size()) group_of_->resize(bytes_->states(), -1);
    std::int32_t& group = element(*group_of_, to);
    if (group < 0) {
      group = static_cast<std::int32_t>(to_.size());
      to_.push_back(to), ids_.emplace_back();
    }
    std::vector<std::int32_t>& all = element(ids_, group);
    all.insert(all.end(), ids.begin(), ids.end());
  }
  void move_to(Followers& followers, std::size_t words) {
    std::vector<std::int32_t> all;
    for (std::size_t g = 0; g < to_.size(); ++g) {
      element(*group_of_, to_[g]) = -1;
      all.insert(all.end(), ids_[g].begin(), ids_[g].end());
      followers.worst = std::max(followers.worst, bytes_->bytes_left(to_[g]));
      followers.groups.push_back({to_[g], IdSet(std::move(ids_[g]), words)});
    }
    followers.others = IdSet(std::move(all), words);
  }

 private:
  const ByteAutomaton* bytes_;
  std::vector<std::int32_t>* group_of_;
  std::vector<std::int32_t> to_;
  std::vector<std::vector<std::int32_t>> ids_;
};

}  // namespace

std::size_t Followers::size_in_bytes() const {
  std::size_t size = others.size_in_bytes();
  for (const Group& g : groups) size += sizeof g + g.ids.size_in_bytes();
  return size;
}

const Followers& TokenFollowers::of(std::int32_t state) {
  if (const auto found = followers_.find(state); found != followers_.end()) return found->second;
  return keep(followers_, state, with_groups(state, run_of(state)));
}

const Followers& TokenFollowers::grouped(std::int32_t state) {
  const Followers& usual = of(state);
  // Where one state follows each number of characters, the plain tokens of that number are a group.
  const bool single =
      std::find(usual.after_plain.begin(), usual.after_plain.end(), Followers::several) == usual.after_plain.end();
  if (single) return usual;
  if (const auto found = grouped_.find(state); found != grouped_.end()) return found->second;
  return keep(grouped_, state, with_groups(state, {}));
}

std::vector<std::int32_t> TokenFollowers::plain_ids(const Followers& of, std::int64_t chars) const {
  const std::span<const std::uint64_t> most = tokens_->plain().up_to(chars), fewer = tokens_->plain().up_to(chars - 1);
  std::vector<std::int32_t> ids;
  for (std::size_t word = 0; word < most.size(); ++word)
    for (std::uint64_t bits = most[word] & ~fewer[word] & (*of.plain)[word]; bits != 0; bits &= bits - 1)
      ids.push_back(static_cast<std::int32_t>(64 * word) + std::countr_zero(bits));
  return ids;
}

void TokenFollowers::forget() {
  followers_.clear(), grouped_.clear(), after_other_.clear(), after_.clear(), plain_.clear();
  mask_bytes_ = 0;
}

const Followers& TokenFollowers::keep(FollowersByState& kept, std::int32_t state, Followers made) {
  mask_bytes_ += made.size_in_bytes();
  return kept.emplace(state, std::move(made)).first->second;
}

// A byte for each way that both a plain character beyond ASCII and the grammar may tell apart.
void TokenFollowers::find_ways() {
  const CharBytes& character = tokens_->plain().others();
  ways_.resize(as_size(character.states()));
  for (std::int32_t at = 0; at < character.states(); ++at) {
    std::vector<PlainByte>& list = element(ways_, at);
    for (std::size_t b = 0; b < 256; ++b) {
      const auto byte = static_cast<unsigned char>(b);
      const std::int32_t to = character.next(at, byte);
      const bool known = std::any_of(list.begin(), list.end(), [&](const PlainByte& other) {
        return other.to == to && bytes_->classes().of[other.byte] == bytes_->classes().of[byte];
      });
      if (to != CharBytes::none && !known) list.push_back({byte, to});
    }
  }
}

// The states after one plain character beyond ASCII; none if some of them may not follow.
const std::vector<std::int32_t>& TokenFollowers::after_other(std::int32_t state) {
  const auto [found, fresh] = after_other_.try_emplace(state);
  if (!fresh) return found->second;
  std::vector<std::int32_t> reached;
  std::vector<std::pair<std::int32_t, std::int32_t>> pending{{CharBytes::start, state}};
  for (std::size_t p = 0; p < pending.size(); ++p) {
    const auto [at, from] = pending[p];
    for (const PlainByte& b : element(ways_, at)) {
      const std::int32_t to = bytes_->next(from, b.byte);
      if (to == dead || pending.size() > most_pending) return found->second;
      if (b.to == CharBytes::whole)
        reached.push_back(to);
      else if (std::find(pending.begin(), pending.end(), std::pair{b.to, to}) == pending.end())
        pending.emplace_back(b.to, to);
    }
  }
  sort_unique(reached);
  return found->second = std::move(reached);
}

const TokenFollowers::Next& TokenFollowers::after(std::int32_t state) {
  const auto [found, fresh] = after_.try_emplace(state);
  if (!fresh) return found->second;
  Next next{.bytes = {}, .chars = tokens_->plain().chars()};
  for (std::size_t b = 0; b < 256; ++b) next.bytes[b] = bytes_->next(state, static_cast<unsigned char>(b)) != dead;
  for (std::size_t c = 0; c < PlainTokens::beyond_ascii; ++c)
    if (!next.bytes[c]) next.chars.reset(c);
  if (next.chars[PlainTokens::beyond_ascii] && after_other(state).empty()) next.chars.reset(PlainTokens::beyond_ascii);
  return found->second = next;
}

// All of `chars` may follow all of `states`.
std::vector<std::int32_t> TokenFollowers::states_after(const std::vector<std::int32_t>& states, const Chars& chars) {
  std::vector<std::int32_t> reached;
  for (const std::int32_t from : states) {
    for (std::size_t c = 0; c < PlainTokens::beyond_ascii; ++c) {
      if (!chars[c]) continue;
      const std::int32_t to = bytes_->next(from, static_cast<unsigned char>(c));
      if (reached.empty() || reached.back() != to) reached.push_back(to);
    }
    if (!chars[PlainTokens::beyond_ascii]) continue;
    const std::vector<std::int32_t>& others = after_other(from);
    reached.insert(reached.end(), others.begin(), others.end());
  }
  sort_unique(reached);
  return reached;
}

// The longest run along the way of most characters.
TokenFollowers::Run TokenFollowers::run_of(std::int32_t state) {
  const Chars chars = after(state).chars;
  std::vector<std::pair<std::int32_t, Chars>> ways;  // the characters that lead to each state
  for (std::size_t c = 0; c < PlainTokens::beyond_ascii; ++c) {
    if (!chars[c]) continue;
    const std::int32_t to = bytes_->next(state, static_cast<unsigned char>(c));
    auto way = std::find_if(ways.begin(), ways.end(), [&](const auto& other) { return other.first == to; });
    if (way == ways.end()) way = ways.emplace(ways.end(), to, Chars());
    way->second.set(c);
  }
  if (ways.empty()) return {};
  const auto fewer = [](const auto& a, const auto& b) { return a.second.count() < b.second.count(); };
  Run run;
  run.later = after(std::max_element(ways.begin(), ways.end(), fewer)->first).chars;
  if (run.later.count() < fewest_chars) return {};
  const auto goes_on = [&](std::int32_t to) { return (run.later & ~after(to).chars).none(); };
  for (const auto& [to, those] : ways)
    if (goes_on(to)) run.first |= those;
  const std::vector<std::int32_t>& others = after_other(state);
  run.first.set(PlainTokens::beyond_ascii,
                chars[PlainTokens::beyond_ascii] && std::all_of(others.begin(), others.end(), goes_on));
  run.after.push_back(states_after({state}, run.first));
  if (run.after[0].size() > most_after_plain) return {};
  // Where a character leads elsewhere, it is given up, and the run begins anew without it.
  while (!lengthen(run)) run.after.resize(1);
  return run;
}

// Adds the states after more characters; false if that took characters away from `later`.
bool TokenFollowers::lengthen(Run& run) {
  while (std::ssize(run.after) < tokens_->plain().most_chars()) {
    const std::vector<std::int32_t>& now = run.after.back();
    const auto goes_on = [&](std::int32_t to) { return (run.later & ~after(to).chars).none(); };
    if (!std::all_of(now.begin(), now.end(), goes_on)) break;
    std::vector<std::int32_t> then = states_after(now, run.later);
    if (then.size() > most_after_plain) return true;
    if (then == now) {
      run.after.resize(as_size(tokens_->plain().most_chars()), then);
      break;
    }
    if (!std::all_of(then.begin(), then.end(), goes_on)) {
      Chars kept;
      for (std::size_t c = 0; c < run.later.size(); ++c) {
        if (!run.later[c]) continue;
        const std::vector<std::int32_t> reached = states_after(now, Chars().set(c));
        kept[c] = std::all_of(reached.begin(), reached.end(), goes_on);
      }
      if (2 * kept.count() >= run.later.count()) {
        run.later = kept;
        return false;
      }
    }
    run.after.push_back(std::move(then));
  }
  Chars any;
  for (const std::int32_t at : run.after.back()) any |= after(at).chars;
  run.ends = (any & run.later).none();
  return true;
}

void TokenFollowers::add_plain(Followers& to, const Run& run) {
  if (run.after.empty()) return;
  auto& known = plain_[run.later];
  auto found = std::find_if(known.begin(), known.end(), [&](const auto& one) { return one.first == run.first; });
  if (found == known.end()) {
    auto bits = std::make_shared<const std::vector<std::uint64_t>>(tokens_->plain().of(run.first, run.later));
    mask_bytes_ += bits->size() * sizeof(std::uint64_t);
    found = known.emplace(known.end(), run.first, std::move(bits));
  }
  to.plain = found->second;
  const std::span<const std::uint64_t> most = tokens_->plain().up_to(std::ssize(run.after));
  for (std::size_t word = 0; word < most.size(); ++word)
    to.plain_count += std::popcount(most[word] & (*to.plain)[word]);
  for (const std::vector<std::int32_t>& states : run.after) {
    for (const std::int32_t at : states) to.worst = std::max(to.worst, bytes_->bytes_left(at));
    to.after_plain.push_back(states.size() == 1 ? states[0] : Followers::several);
  }
}

// Every token that begins as the run does and may follow has one of these bytes after that, unless it is one of the run's.
TokenTrie::ByteSet TokenFollowers::bytes_out_of(const Run& run) {
  std::bitset<256> bytes;
  for (std::size_t n = 0; n < run.after.size(); ++n)
    if (n == 0 || run.after[n] != run.after[n - 1])
      for (const std::int32_t at : run.after[n]) bytes |= after(at).bytes;
  TokenTrie::ByteSet set = TokenTrie::odd;
  for (std::size_t b = 0; b < 256; ++b)
    if (bytes[b] && !run.later[std::min(b, PlainTokens::beyond_ascii)])
      set |= TokenTrie::byte_set(static_cast<unsigned char>(b));
  return set;
}

// Walks the trie: all tokens but those of the run.
Followers TokenFollowers::with_groups(std::int32_t state, const Run& run) {
  Followers found;
  add_plain(found, run);
  const std::int64_t known_chars = std::ssize(run.after);
  const TokenTrie::ByteSet others = bytes_out_of(run);
  const auto is_of_run = [&](std::int32_t id) {
    return found.plain && has_bit(*found.plain, id) && tokens_->plain().chars(id) <= known_chars;
  };
  Groups groups(*bytes_, group_of_);
  struct Place {
    const TokenTrie::Node* node;
    std::int32_t state, depth;
    bool in_run;
  };
  std::vector<Place> pending{{&tokens_->node(0), state, 0, known_chars > 0}};
  while (!pending.empty()) {
    const auto [parent, from, depth, was_in_run] = pending.back();
    pending.pop_back();
    const Chars& chars = depth == 0 ? run.first : run.later;
    for (const TokenTrie::Node& node : tokens_->children(*parent)) {
      const bool in_run = was_in_run && chars[std::min<std::size_t>(node.byte, PlainTokens::beyond_ascii)];
      if (in_run && (node.below & others) == 0 && (run.ends || node.most_plain_chars <= known_chars)) continue;
      const std::int32_t to = bytes_->next(from, node.byte);
      if (to == dead) continue;
      if (node.children > 0 && depth + 1 < PlainTokens::longest) pending.push_back({&node, to, depth + 1, in_run});
      if (node.tokens == 0) continue;
      if (const std::span<const std::int32_t> here = tokens_->ids(node); !is_of_run(here[0])) groups.add(to, here);
    }
  }
  groups.move_to(found, words_for(tokens_->size()));
  return found;
}

// What a token has in common with the one before it is not followed again.
const Followers& LongTokenFollowers::of(std::int32_t state) {
  if (const auto found = followers_.find(state); found != followers_.end()) return found->second;
  Groups groups(*bytes_, group_of_);
  std::vector<std::int32_t> along{state};  // the states after 0, 1, ... bytes of a token
  std::size_t dead_from = 1;  // how many bytes of the last token are not allowed; more than it has if all are
  for (const auto& [id, common] : tokens_->long_tokens()) {
    if (common >= dead_from) continue;
    const std::string& token = tokens_->bytes(id);
    along.resize(common + 1);
    while (along.back() != ByteAutomaton::dead && along.size() <= token.size())
      along.push_back(bytes_->next(along.back(), static_cast<unsigned char>(token[along.size() - 1])));
    dead_from = token.size() + 1;
    if (along.back() == ByteAutomaton::dead)
      dead_from = along.size() - 1;
    else
      groups.add(along.back(), {&id, 1});
  }
  Followers found;
  groups.move_to(found, words_for(tokens_->size()));
  mask_bytes_ += found.size_in_bytes();
  return followers_.emplace(state, std::move(found)).first->second;
}

void LongTokenFollowers::forget() {
  followers_.clear();
  mask_bytes_ = 0;
}

}  // namespace tril::search
