// A set of characters as a deterministic automaton over the bytes of their UTF-8.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/element.h"
#include "grammar/expressions/char_set.h"

namespace tril::search {

class CharBytes {
 public:
  explicit CharBytes(const CharSet& chars);

  static constexpr std::int32_t start = 0;
  static constexpr std::int32_t none = -1;   ///< no character of the set begins like this
  static constexpr std::int32_t whole = -2;  ///< a character of the set ends here
  /// @param state  `start`, or what next() returned, unless that was `none` or `whole`
  std::int32_t next(std::int32_t state, unsigned char byte) const { return element(next_, state)[byte]; }
  std::int64_t states() const { return std::ssize(next_); }

 private:
  std::int32_t rest(const CharSet& chars, char32_t first, int bytes);

  std::vector<std::array<std::int32_t, 256>> next_;
  std::array<std::int32_t, 4> all_{none, none, none, none};  // by number: any so many bytes of a character's rest
};

}  // namespace tril::search
