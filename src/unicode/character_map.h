// A SentencePiece model's map of characters (precompiled_charsmap): the size of a double-array trie [Aoe 1989] in 4
// bytes, its units of 4 bytes in the layout of the Darts-clone library, then strings that end in NUL. Checked before
// anybody uses it: a damaged one would lead outside its bytes, and the SentencePiece library does not look.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tril {

class CharacterMap {
 public:
  /// @throws Error where the map is damaged; an empty one maps nothing
  CharacterMap(std::string_view map, const std::string& where);

  struct Match {
    std::size_t bytes = 0;              ///< of the text; 0: nothing is mapped
    const char* replacement = nullptr;  ///< ends in NUL
  };
  enum class Want { shortest, longest };
  /// The shortest or longest beginning of `text` that is mapped.
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

/// What is wrong with the maps in the SentencePiece model `bytes` (of normalizer_spec and denormalizer_spec); "" where all are sound or there is none.
std::string character_map_fault(std::string_view bytes);

}  // namespace tril
