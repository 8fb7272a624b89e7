// What a SentencePiece model file says of its pieces and how it cuts text, which the library keeps to itself; and how
// pieces are added to such a file. Source: sentencepiece_model.proto of the SentencePiece project.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tril {

enum class SubwordAlgorithm : std::uint8_t { unigram = 1, bpe = 2, word = 3, character = 4 };
enum class PieceType : std::uint8_t { normal = 1, unknown = 2, control = 3, user_defined = 4, unused = 5, byte = 6 };

struct SentencePieceEntry {
  std::string text;
  float score = 0;  ///< unigram: log probability; bpe: the higher, the earlier it is merged
  PieceType type = PieceType::normal;
};

struct SentencePieceFile {
  SubwordAlgorithm algorithm = SubwordAlgorithm::unigram;
  std::vector<SentencePieceEntry> pieces;  ///< by id
};

/// @throws Error where `bytes` (a model that parse_sentencepiece takes) is damaged
SentencePieceFile read_sentencepiece_file(std::string_view bytes);

/// The model `bytes` with further pieces behind its own, whose ids stay.
std::string with_pieces(std::string_view bytes, std::span<const SentencePieceEntry> pieces);

}  // namespace tril
