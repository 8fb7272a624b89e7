// lfm3: lfm2 with norms after the sublayers too, a gate for the result of each head, windows in some layers, and rotary positions
// by kind of layer [LFM3, Liquid AI 2026].
#include <nlohmann/json.hpp>

#include "model/families/decoder_families.h"
#include "model/families/lfm_defaults.h"
#include "model/spec/llama_like.h"

namespace tril::model {

std::unique_ptr<Model> make_lfm3(const JsonObject& config) {
  ConfigReader reader(config, "lfm3");
  LlamaLikeConfig k = lfm_defaults("lfm3", "Lfm3ForCausalLM");
  k.vocab_size = 128000, k.hidden_size = 2048, k.intermediate_size = 7680, k.num_hidden_layers = 24;
  k.num_attention_heads = 16, k.num_key_value_heads = 4, k.head_dim = 128;
  k.bos_token_id = 124894, k.eos_token_id = 124900, k.pad_token_id = 124893;
  k.rope_by_type = true;
  k.norm_eps_key = reader.spelt("norm_eps", "rms_norm_eps");
  k = read_llama_like(reader, std::move(k));
  reader.only("hidden_act", std::string("silu"));
  read_attention_bias(reader, k);
  k.head_norms = rms_head_norms(k);
  if (read_own_bool(reader, k, "use_attention_gate", true)) k.attention_gate = "gate_proj";
  if (read_own_bool(reader, k, "use_sandwich_norm", true)) {
    k.norm_names.after_attention = "post_operator_norm";
    k.norm_names.after_feed_forward = "post_ffn_norm";
  }
  const std::int64_t taps = read_own_size(reader, k, "conv_L_cache", 7, 1 << 10);
  const bool bias = read_own_bool(reader, k, "conv_bias", false);
  k.recurrence = nn::GatedShortConvolution::Options{.d_model = k.hidden_size, .taps = taps, .bias = bias};
  read_recurrent_and_windows(reader, k, "conv", read_window(reader, 256), [](std::int64_t i) {
    return i % 4 == 2 ? "full_attention" : i % 4 == 0 && i > 0 ? "sliding_attention" : "conv";
  });
  const nlohmann::json default_rotary{
      {"full_attention", {{"rope_type", "proportional"}, {"rope_theta", 1e6}, {"partial_rotary_factor", 0.5}}},
      {"sliding_attention", {{"rope_type", "default"}, {"rope_theta", 1e4}}}};
  const RotaryByType rotary = read_nested_rotary(reader, k.rope_defaults, default_rotary, k.windows);
  k.rope = rotary.full, k.sliding_rope = rotary.sliding;
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model
