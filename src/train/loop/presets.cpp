#include "train/loop/presets.h"

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
  if (is_t5(m)) m.attention_dropout = m.activation_dropout = m.dropout;
  if (m.arch == "mt5") m.activation = model::HiddenAct::gelu_new;
  if (m.arch == "bart" || m.arch == "mbart") m.activation = model::HiddenAct::gelu;
  if (!is_language_model(m)) return;
  m.activation = model::HiddenAct::gelu_new;
  m.attention_dropout = is_linear(m) ? 0 : m.dropout;
  o.learning.label_smoothing = 0;
  o.learning.optimizer = OptimizerKind::adamw;
  o.learning.beta2 = 0.95, o.learning.epsilon = 1e-8, o.learning.weight_decay = 0.1;
  o.learning.decay_matrices_only = true;
}

}  // namespace tril::train
