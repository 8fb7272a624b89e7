// The tokens of ordinary text, by their numbers of characters. In most vocabularies nearly all tokens are plain, and a
// grammar often treats their characters alike: within a JSON string, all may come, up to the string's longest length.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/element.h"
#include "grammar/automata/char_bytes.h"

namespace tril::search {

class PlainTokens {
 public:
  /// A token is plain if it has at most so many characters, all of them plain.
  static constexpr std::int64_t longest = 32;

  /// @param bytes  by id
  /// @param chars  the plain characters; the tokens must be able to spell each
  PlainTokens(std::span<const std::string> bytes, const CharSet& chars);

  const CharBytes& character() const { return character_; }
  /// The number of characters of a plain token; 0 for any other.
  std::int64_t chars(std::int32_t id) const { return element(chars_, id); }
  /// The characters of the longest plain token.
  std::int64_t most_chars() const { return std::ssize(ids_) - 1; }
  /// The plain tokens of `chars` characters.
  std::span<const std::int32_t> ids(std::int64_t chars) const { return element(ids_, chars); }

  /// The plain tokens of at most `chars` characters: a bit for each id.
  std::span<const std::uint64_t> mask_up_to(std::int64_t chars) const { return element(masks_, chars); }
  std::int64_t count_up_to(std::int64_t chars) const { return element(counts_, chars); }

 private:
  CharBytes character_;
  std::vector<std::uint8_t> chars_;
  std::vector<std::vector<std::int32_t>> ids_;
  std::vector<std::vector<std::uint64_t>> masks_;
  std::vector<std::int64_t> counts_;
};

}  // namespace tril::search
