// The tokens of ordinary text. In most vocabularies nearly all tokens are plain, and a grammar often treats many of their
// characters alike: within a JSON string all may come, within a name all letters and digits. The plain tokens of a set of
// characters are found at once, as bits: all of them without those that have another character.
#pragma once

#include <bitset>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/element.h"
#include "grammar/automata/char_bytes.h"
#include "grammar/automata/id_set.h"

namespace tril::search {

class PlainTokens {
 public:
  /// Longer tokens are not plain.
  static constexpr std::int64_t longest = 32;  // bytes
  /// Plain characters: each of ASCII by itself, all others together.
  using Chars = std::bitset<129>;
  static constexpr std::size_t beyond_ascii = 128;

  /// @param bytes  by id
  /// @param chars  the plain characters; the tokens must be able to spell each
  PlainTokens(std::span<const std::string> bytes, const CharSet& chars);

  /// All plain characters.
  const Chars& chars() const { return all_; }
  /// The plain characters beyond ASCII.
  const CharBytes& others() const { return others_; }
  /// The number of characters of a plain token; 0 for any other.
  std::int64_t chars(std::int32_t id) const { return element(chars_, id); }
  /// The characters of the longest plain token.
  std::int64_t most_chars() const { return std::ssize(up_to_) - 1; }
  /// The plain tokens of at most `chars` characters: a bit for each id.
  std::span<const std::uint64_t> up_to(std::int64_t chars) const { return element(up_to_, chars); }
  /// The plain tokens that begin with a character of `first`, and whose other characters are all of `later`.
  std::vector<std::uint64_t> of(const Chars& first, const Chars& later) const;

 private:
  Chars all_;
  CharBytes others_;
  std::vector<std::uint8_t> chars_;
  std::vector<std::vector<std::uint64_t>> up_to_;
  std::vector<IdSet> first_, later_;  // by character: the plain tokens that begin with it, and those that have it later
};

}  // namespace tril::search
