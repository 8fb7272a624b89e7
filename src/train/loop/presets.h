// The presets of `tril train`: sizes, dropout and the learning rate of known models.
#pragma once

#include "train/loop/options.h"

namespace tril::train {

/// Sets everything that a preset determines: the model's sizes and dropouts.
///   tiny  d 128, 4 heads, ffn 256, 4 + 4 layers, dropout 0.1   learning rate 0.002, warm-up 400 updates
///   base  d 512, 8 heads, ffn 2048, 6 + 6 layers, dropout 0.1  0.0007, 4,000  [Vaswani et al. 2017, table 3]
///   big   d 1024, 16 heads, ffn 4096, 6 + 6 layers, dropout 0.3  0.0005, 4,000
/// A language model has only the decoder's layers, and follows GPT-3's training settings: AdamW with betas 0.9 and 0.95, decay
/// 0.1, dropout on attention weights too, no label smoothing [Brown et al. 2020, appendix B]. Its vocabulary is byte-level BPE.
/// A family without dropout of its layers (Llama and what follows it) has none; the activation is the family's, and so is the
/// weight of a mixture's balance.
void apply_preset(TrainOptions& o);

}  // namespace tril::train
