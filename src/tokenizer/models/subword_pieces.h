// The pieces of a SentencePiece model by their text, for BPE dropout and unigram sampling, which split words themselves.
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

  /// @throws Error if the model has unused pieces (UNUSED), which only the library itself can split around
  explicit SubwordPieces(const SentencePieceFile& model);

  const Piece* find(std::string_view text) const;
  /// Bytes of the longest user-defined piece at the start of `text`; 0: none. Such pieces are never split.
  std::size_t frozen_prefix(std::string_view text) const;
  /// The end of the first word of `text` (in the model's normal form): no piece crosses it.
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
  std::array<bool, 256> frozen_start_{};  ///< first bytes of these
  Boundary boundary_ = Boundary::none;
  float lowest_score_ = 0;
  std::size_t longest_ = 1;
};

/// Bytes of the first character of `text`, which is UTF-8 and not empty.
std::size_t character_length(std::string_view text);

}  // namespace tril
