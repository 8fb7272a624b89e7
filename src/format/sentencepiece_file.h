// Reads from a SentencePiece model file the pieces and normaliser settings, which the library does not expose, and
// adds pieces to such a file. Source: sentencepiece_model.proto of the SentencePiece project.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tril {

/// U+2581, which replaces spaces in pieces.
inline constexpr std::string_view space_mark = "\u2581";
/// An unknown character's score is this many nats below the lowest piece's score.
inline constexpr double unknown_penalty = 10;

enum class SubwordAlgorithm : std::uint8_t { unigram = 1, bpe = 2, word = 3, character = 4 };
enum class PieceType : std::uint8_t { normal = 1, unknown = 2, control = 3, user_defined = 4, unused = 5, byte = 6 };

struct SentencePieceEntry {
  std::string text;
  float score = 0;  ///< unigram: log-probability; bpe: the higher, the earlier it is merged
  PieceType type = PieceType::normal;
};

struct SentencePieceFile {
  SubwordAlgorithm algorithm = SubwordAlgorithm::unigram;
  std::vector<SentencePieceEntry> pieces;  ///< by id
  // Normalisation of the text before it is cut.
  std::string character_map;             ///< precompiled_charsmap; "": characters stay as they are
  bool add_dummy_prefix = true;          ///< a space in front
  bool remove_extra_whitespaces = true;  ///< no spaces at the ends, runs become one space
  bool escape_whitespaces = true;        ///< a space becomes U+2581
  bool whitespace_as_suffix = false;     ///< the dummy space is added at the end of the text
  bool byte_fallback = false;            ///< an unknown character becomes the pieces of its bytes
};

/// @throws Error if `bytes` (a model that parse_sentencepiece accepts) is damaged
SentencePieceFile read_sentencepiece_file(std::string_view bytes);

/// The model `bytes` with new pieces after its own, whose ids do not change.
std::string with_pieces(std::string_view bytes, std::span<const SentencePieceEntry> pieces);

}  // namespace tril
