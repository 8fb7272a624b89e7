// A SentencePiece model's character map (precompiled_charsmap): the size of a double-array trie [Aoe 1989] in 4 bytes,
// its units of 4 bytes in the layout of the Darts-clone library, then NUL-terminated strings. It is validated first: a
// damaged map would lead to reads outside its bytes, which the SentencePiece library does not check.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tril {

class CharacterMap {
 public:
  /// @throws Error if the map is damaged; an empty map maps nothing
  CharacterMap(std::string_view map, const std::string& where);

  struct Match {
    std::size_t bytes = 0;              ///< of the text; 0: nothing is mapped
    const char* replacement = nullptr;  ///< NUL-terminated
  };
  enum class Want { shortest, longest };
  /// The shortest or longest mapped prefix of `text`.
  Match find(std::string_view text, Want want) const;

  /// A unit of the double array.
  struct Unit {
    std::uint32_t bits;
    bool has_leaf() const { return (bits >> 8 & 1) != 0; }
    std::uint32_t value() const { return bits & 0x7fffffffu; }
    std::uint32_t label() const { return bits & 0x800000ffu; }
    std::size_t offset() const { return std::size_t{bits >> 10} << ((bits & 1u << 9) >> 6); }
  };

 private:
  std::vector<Unit> units_;
  std::string strings_;
};

/// The fault of a character map in the SentencePiece model `bytes` (normalizer_spec or denormalizer_spec); "" if there is none.
std::string character_map_fault(std::string_view bytes);

}  // namespace tril
