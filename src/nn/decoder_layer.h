// The layer of decoder-only models: two sublayers, each between norms, one after the other or in parallel.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "nn/attention_and_mamba2.h"
#include "nn/blocks.h"
#include "nn/dense_and_experts.h"
#include "nn/expert_feed_forward.h"
#include "nn/gated_delta_net.h"
#include "nn/latent_attention.h"
#include "nn/layer_inputs.h"
#include "nn/mamba2.h"
#include "nn/short_convolution.h"

namespace tril::nn {

/// h += r N2(Mix(N1(h))),  h += r N4(FF(N3(h))), where Mix is self-attention or a recurrence; a missing norm is the
/// identity. N1 and N3 alone give pre-norm [Llama: Touvron et al. 2023, section 2.2], all four Gemma 2 [2024, section 2],
/// N2 and N4 alone OLMo 2 [2025, section 3.1]. A layer may have only one of the two sublayers [Nemotron-H, 2025].
/// A layer with cross-attention has h += r N6(CrossAttention(N5(h), memory)) between the two [T5Gemma, 2025].
struct DecoderLayer {
  std::string name;
  std::optional<Norm> before_attention, after_attention, before_feed_forward, after_feed_forward;
  /// Reads earlier tokens; std::monostate: there is no such sublayer.
  std::variant<Attention, LatentAttention, GatedShortConvolution, GatedDeltaNet, Mamba2, AttentionAndMamba2,
               std::monostate>
      mixer;
  std::optional<Norm> before_cross, after_cross;  ///< N5, N6
  std::optional<Attention> cross_attention;
  /// std::monostate: there is no such sublayer.
  std::variant<GatedFeedForward, FeedForward, ExpertFeedForward, DenseAndExperts, std::monostate> feed_forward;
  std::optional<LayerInput> layer_input;  ///< after the feed-forward
  Parameter* factor = nullptr;            ///< [1], multiplies the layer's result; null: there is none
  bool keys_are_read = false;             ///< Attention::Options::keys_are_read of its attention
  /// Both sublayers read h: h += r N2(Mix(N1(h))) + r N4(FF(N3(h))), and without N3 both read N1(h) [GPT-J: Wang &
  /// Komatsuzaki 2021].
  bool parallel = false;
  float residual_scale = 1;        ///< r
  float dropout = 0;               ///< on the mixer's result, before it is added
  float feed_forward_dropout = 0;  ///< on the feed-forward's result

  /// The cache layout that it needs.
  KvCache::Layer kept() const;
  /// h [N, d_model]
  Tensor forward(Context& c, const Tensor& h, const LayerCall& call, std::int64_t layer,
                 const Attention::KeysValues& memory = {}) const;
};

}  // namespace tril::nn
