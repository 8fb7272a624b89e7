// The pieces of a SentencePiece model by their text, for those who cut words by themselves: BPE dropout and unigram
// sampling.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "format/sentencepiece_file.h"

namespace tril {

class SubwordPieces {
 public:
  struct Piece {
    float score;
    std::int32_t id;  ///< the model's
  };

  /// @throws Error where pieces of the model are out of use (UNUSED), which only the library itself can cut around
  explicit SubwordPieces(const SentencePieceFile& model);

  const Piece* find(std::string_view text) const;
  /// Bytes of the user-defined piece that `text` begins with, the longest; 0: none. Such pieces are never cut.
  std::size_t frozen_prefix(std::string_view text) const;
  /// Where the first word of `text` (in the model's normal form) ends: no piece reaches across.
  std::size_t word_end(std::string_view text) const;

  float lowest_score() const { return lowest_score_; }
  std::size_t longest() const { return longest_; }  ///< bytes of the longest piece

 private:
  enum class Boundary : std::uint8_t { none, before_space, behind_space };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view s) const { return std::hash<std::string_view>{}(s); }
  };

  std::unordered_map<std::string, Piece, Hash, std::equal_to<>> pieces_;
  std::vector<std::string> frozen_;       ///< the longest first
  std::array<bool, 256> frozen_start_{};  ///< bytes that begin one of them
  Boundary boundary_ = Boundary::none;
  float lowest_score_ = 0;
  std::size_t longest_ = 1;
};

/// Bytes of the character that `text`, which is UTF-8 and not empty, begins with.
std::size_t character_length(std::string_view text);

}  // namespace tril
