// The tokens that may follow each state of an automaton over bytes, found on demand and kept.
//
// Most of them are found as a set. Where any of some characters may follow, and after it any of some others, and so on, as
// within a string, all tokens of these characters may follow: PlainTokens has them as bits. One walk of the trie finds the
// others. It skips a node and all its descendants if the node's byte is not allowed, or if all tokens below that may follow
// are known from their characters.
#pragma once

#include <bitset>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "grammar/automata/byte_automaton.h"
#include "grammar/automata/id_set.h"
#include "grammar/automata/token_trie.h"

namespace tril::search {

/// The tokens that may follow a state. Those of the plain characters that may follow are counted by their characters; the
/// others are grouped by the state that they lead to: the tokens left decide over a whole group.
struct Followers {
  static constexpr std::int32_t several = -1;  ///< in after_plain: different characters lead to different states
  struct Group {
    std::int32_t to;
    IdSet ids;
  };
  /// Of the groups and their sets.
  std::size_t size_in_bytes() const;

  /// The plain tokens of these characters, as bits. Those follow that have at most as many characters as there are
  /// states in after_plain.
  std::shared_ptr<const std::vector<std::uint64_t>> plain;
  std::vector<std::int32_t> after_plain;  ///< the states after 1, 2, ... of the characters
  std::int64_t plain_count = 0;           ///< the plain tokens that follow
  std::vector<Group> groups;              ///< of the other tokens
  IdSet others;                           ///< all of the groups
  std::int64_t worst = 0;                 ///< at least the most bytes left after any of them
};

/// The tokens of at most PlainTokens::longest bytes.
class TokenFollowers {
 public:
  TokenFollowers(ByteAutomaton& bytes, const TokenTrie& tokens) : bytes_(&bytes), tokens_(&tokens) { find_ways(); }

  const Followers& of(std::int32_t state);
  /// All of them in groups, if characters of plain tokens lead to different states.
  const Followers& grouped(std::int32_t state);
  /// Those among the plain tokens that have so many characters.
  std::vector<std::int32_t> plain_ids(const Followers& of, std::int64_t chars) const;

  /// Of the masks that are kept.
  std::size_t mask_bytes() const { return mask_bytes_; }
  void forget();

 private:
  static constexpr std::int32_t dead = ByteAutomaton::dead;
  using Chars = PlainTokens::Chars;
  using FollowersByState = std::unordered_map<std::int32_t, Followers>;

  // Any character of `first`, then any of `later`, as often as there are states.
  struct Run {
    Chars first, later;
    std::vector<std::vector<std::int32_t>> after;  // the states after 1, 2, ... characters
    bool ends = false;                             // no character of `later` may follow more of them
  };
  struct PlainByte {
    unsigned char byte;
    std::int32_t to;  // in the automaton of a character
  };

  struct Next {
    std::bitset<256> bytes;  // that may follow
    Chars chars;             // the plain characters that may; those beyond ASCII only if all of them may
  };
  using Bits = std::shared_ptr<const std::vector<std::uint64_t>>;

  void find_ways();
  const std::vector<std::int32_t>& after_other(std::int32_t state);
  const Next& after(std::int32_t state);
  std::vector<std::int32_t> states_after(const std::vector<std::int32_t>& states, const Chars& chars);
  Run run_of(std::int32_t state);
  bool lengthen(Run& run);
  void add_plain(Followers& to, const Run& run);
  TokenTrie::ByteSet bytes_out_of(const Run& run);
  Followers with_groups(std::int32_t state, const Run& run);
  const Followers& keep(FollowersByState& kept, std::int32_t state, Followers made);

  ByteAutomaton* bytes_;
  const TokenTrie* tokens_;
  std::vector<std::vector<PlainByte>> ways_;  // by the state of a plain character beyond ASCII
  FollowersByState followers_, grouped_;
  std::unordered_map<std::int32_t, std::vector<std::int32_t>> after_other_;
  std::unordered_map<std::int32_t, Next> after_;
  std::vector<std::int32_t> group_of_;  // of a walk, by state; -1: none, as for all states between walks
  std::unordered_map<Chars, std::vector<std::pair<Chars, Bits>>> plain_;  // of runs, by `later` and then by `first`
  std::size_t mask_bytes_ = 0;
};

/// The few tokens of more bytes, which are followed one by one.
class LongTokenFollowers {
 public:
  LongTokenFollowers(ByteAutomaton& bytes, const TokenTrie& tokens) : bytes_(&bytes), tokens_(&tokens) {}

  const Followers& of(std::int32_t state);
  std::size_t mask_bytes() const { return mask_bytes_; }
  void forget();

 private:
  ByteAutomaton* bytes_;
  const TokenTrie* tokens_;
  std::unordered_map<std::int32_t, Followers> followers_;
  std::vector<std::int32_t> group_of_;  // as in TokenFollowers
  std::size_t mask_bytes_ = 0;
};

}  // namespace tril::search
