#include "format/sentencepiece_file.h"

#include <bit>

#include "base/error.h"
#include "format/protobuf.h"

namespace tril {

namespace {

// Field numbers of sentencepiece_model.proto.
constexpr std::uint64_t model_pieces = 1, model_trainer_spec = 2, model_normalizer_spec = 3;
constexpr std::uint64_t piece_text = 1, piece_score = 2, piece_type = 3;
constexpr std::uint64_t spec_algorithm = 3, spec_vocab_size = 4, spec_whitespace_as_suffix = 24,
                        spec_byte_fallback = 35;
constexpr std::uint64_t normal_character_map = 2, normal_dummy_prefix = 3, normal_extra_whitespaces = 4,
                        normal_escape = 5;

using protobuf::Wire;

SentencePieceEntry read_piece(std::string_view bytes, bool& sound) {
  SentencePieceEntry piece;
  sound = protobuf::for_each_field(bytes, [&](const protobuf::Field& f) {
    if (f.number == piece_text && f.wire == Wire::bytes) piece.text = f.bytes;
    if (f.number == piece_score && f.wire == Wire::fixed32)
      piece.score = std::bit_cast<float>(static_cast<std::uint32_t>(f.value));
    if (f.number == piece_type && f.wire == Wire::varint) piece.type = static_cast<PieceType>(f.value);
    return true;
  });
  return piece;
}

}  // namespace

SentencePieceFile read_sentencepiece_file(std::string_view bytes) {
  SentencePieceFile file;
  const auto take_spec = [&](const protobuf::Field& f) {
    if (f.wire != Wire::varint) return true;
    if (f.number == spec_algorithm) file.algorithm = static_cast<SubwordAlgorithm>(f.value);
    if (f.number == spec_whitespace_as_suffix) file.whitespace_as_suffix = f.value != 0;
    if (f.number == spec_byte_fallback) file.byte_fallback = f.value != 0;
    return true;
  };
  const auto take_normalizer = [&](const protobuf::Field& f) {
    if (f.number == normal_character_map && f.wire == Wire::bytes) file.character_map = f.bytes;
    if (f.wire != Wire::varint) return true;
    if (f.number == normal_dummy_prefix) file.add_dummy_prefix = f.value != 0;
    if (f.number == normal_extra_whitespaces) file.remove_extra_whitespaces = f.value != 0;
    if (f.number == normal_escape) file.escape_whitespaces = f.value != 0;
    return true;
  };
  const bool whole = protobuf::for_each_field(bytes, [&](const protobuf::Field& f) {
    bool sound = true;
    if (f.number == model_pieces && f.wire == Wire::bytes) file.pieces.push_back(read_piece(f.bytes, sound));
    if (f.number == model_trainer_spec && f.wire == Wire::bytes) sound = protobuf::for_each_field(f.bytes, take_spec);
    if (f.number == model_normalizer_spec && f.wire == Wire::bytes)
      sound = protobuf::for_each_field(f.bytes, take_normalizer);
    return sound;
  });
  if (!whole) fail("SentencePiece model", "it is truncated or damaged");
  return file;
}

std::string with_pieces(std::string_view bytes, std::span<const SentencePieceEntry> pieces) {
  // Consecutive messages are merged: repeated fields grow, and a later number replaces an earlier one.
  std::string longer(bytes);
  for (const SentencePieceEntry& piece : pieces) {
    std::string entry;
    protobuf::append_bytes(entry, piece_text, piece.text);
    protobuf::append_float(entry, piece_score, piece.score);
    protobuf::append_varint(entry, piece_type, static_cast<std::uint64_t>(piece.type));
    protobuf::append_bytes(longer, model_pieces, entry);
  }
  std::string spec;
  protobuf::append_varint(spec, spec_vocab_size, read_sentencepiece_file(longer).pieces.size());
  protobuf::append_bytes(longer, model_trainer_spec, spec);
  return longer;
}

}  // namespace tril
