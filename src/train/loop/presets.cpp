#include "train/loop/presets.h"

#include "train/families/new_family.h"

namespace tril::train {

void apply_preset(TrainOptions& o) {
  ModelOptions& m = o.model;
  const auto sizes = [&](std::int64_t d, std::int64_t heads, std::int64_t ffn, std::int64_t depth) {
    m.d_model = d, m.num_heads = heads, m.ffn_dim = ffn, m.enc_depth = m.dec_depth = depth;
  };
  m.attention_dropout = m.activation_dropout = 0;
  switch (m.preset) {
    case Preset::tiny:
      sizes(128, 4, 256, 4);
      m.dropout = 0.1, o.learning.learn_rate = 0.002, o.learning.warmup = 400;
      break;
    case Preset::base:
      sizes(512, 8, 2048, 6);
      m.dropout = 0.1, o.learning.learn_rate = 0.0007, o.learning.warmup = 4000;
      break;
    case Preset::big:
      sizes(1024, 16, 4096, 6);
      m.dropout = 0.3, o.learning.learn_rate = 0.0005, o.learning.warmup = 4000;
      break;
  }
  const NewFamily& family = new_family(m.arch);
  if (!family.activation.empty()) m.activation = model::hidden_act_of(family.activation, "activation");
  if (!family.dropouts.layers) m.dropout = 0;
  const bool one_rate = family.dropouts.one_rate;
  if (family.dropouts.attention && (one_rate || !family.encoder_decoder)) m.attention_dropout = m.dropout;
  if (one_rate) m.activation_dropout = m.dropout;
  o.learning.router_aux_loss = family.router_aux_loss;
  if (family.encoder_decoder) return;
  o.data.vocab_type = SubwordKind::byte_bpe;
  o.learning.label_smoothing = 0;
  o.learning.optimizer = OptimizerKind::adamw;
  o.learning.beta2 = 0.95, o.learning.epsilon = 1e-8, o.learning.weight_decay = 0.1;
  o.learning.decay_matrices_only = true;
}

}  // namespace tril::train
