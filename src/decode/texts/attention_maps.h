// Attention maps for display: the weights softmax(q k^T / sqrt(d_k)) of one pair of sentences, recorded by an observer of
// the context during a teacher-forced pass over the target. They show which tokens a layer reads, but do not explain its output.
//
// For an encoder-decoder this is the cross-attention: row t is the position that predicts target token t, and columns are source
// tokens. For a decoder-only model it is the self-attention over source and target.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/spec/model.h"
#include "tokenizer/files/tokenizer.h"

namespace tril::search {

struct AttentionMaps {
  enum class Kind : std::uint8_t {
    cross,    ///< target to source
    encoder,  ///< source to source
    decoder,  ///< target to target, in an encoder-decoder
    self,     ///< text to text, in a decoder-only model
  };
  struct Layer {
    std::string name;  ///< "model.decoder.layers.0.encoder_attn": the name of the module
    std::int64_t heads = 0;
    std::vector<float> weights;  ///< [heads, queries, keys]
    /// [queries, keys] 1: the mask forbids the pair; empty: it forbids none. A pair that it allows may have weight 0 too.
    std::vector<std::uint8_t> masked = {};
    /// 255 sqrt(weight), rounded to a byte. The root keeps more precision for small weights.
    std::vector<std::uint8_t> codes() const;
    /// `masked` in bits: pair i is bit i % 8 of byte i / 8.
    std::vector<std::uint8_t> masked_bits() const;
  };
  Kind kind = Kind::cross;
  std::vector<std::string> queries, keys;
  std::vector<Layer> layers;
};

/// "cross", "encoder", "decoder", "self"
std::string_view name_of(AttentionMaps::Kind kind);

/// A source and its translation; for a language model, two parts of one text.
struct AttendedPair {
  std::string source, target;
  /// Codes of Tokenizer::languages(); "": the default of the model's directory.
  std::string source_language = {}, target_language = {};
};

/// Limits on the size of the maps.
struct AttentionBounds {
  std::int64_t tokens = 40;  ///< only the first tokens of a longer side are shown
  std::int64_t heads = 128;  ///< of all layers together; only the last layers of a larger model are shown
};

/// The cross-attention of a translation model, or the self-attention of a language model over source + target.
/// @param c  has no tape. Its observer is removed
AttentionMaps attention_maps(Context& c, const model::Model& m, const Tokenizer& tokenizer, const AttendedPair& pair,
                             const AttentionBounds& bounds = {});

/// All attention of the model: cross, encoder and decoder, or self. Kinds that the model does not have are left out: a recurrent
/// decoder has no self-attention.
std::vector<AttentionMaps> all_attention_maps(Context& c, const model::Model& m, const Tokenizer& tokenizer,
                                              const AttendedPair& pair, const AttentionBounds& bounds = {});

}  // namespace tril::search
