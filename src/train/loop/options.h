// All options of a training run, each declared once: flags, YAML keys, help, the dump, and the comparison with the
// options of a resumed run all come from fields_of(). Names follow Marian's where Marian has the option.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"
#include "corpus/alignment.h"
#include "kern/kernels.h"
#include "train/loop/units.h"
#include "train/optim/schedule.h"
#include "train/optim/update_rule.h"

namespace tril::model {
struct AlignmentHeads;
}

namespace tril::train {

enum class Preset : std::uint8_t { tiny, base, big };
enum class NanGuard : std::uint8_t { stop, skip, rollback };
enum class Sides : std::uint8_t { both, source, target };
enum class Metric : std::uint8_t { loss, perplexity, bleu, chrf };

/// The shape of a model.
struct ModelOptions {
  std::string arch = "marian";
  Preset preset = Preset::tiny;
  std::int64_t d_model = 128, num_heads = 4, ffn_dim = 256, enc_depth = 4, dec_depth = 4;
  std::string activation = "relu";
  double dropout = 0.1;                     ///< on each sublayer's output, and on embeddings
  std::optional<double> embedding_dropout;  ///< on embeddings, if different
  double attention_dropout = 0;             ///< attention weights
  double activation_dropout = 0;            ///< after the activation of the feed-forward
  std::int64_t max_positions = 512;
  std::int64_t dropout_warmup = 0;
  double layer_drop = 0;  ///< probability that a layer is skipped in a batch
  bool depth_scaled_init = false;
  bool gradient_checkpointing = false;
};

/// The families that can be built: the values of `arch`.
std::vector<std::string> architectures();

/// Whether the options are for t5 or mt5.
bool is_t5(const ModelOptions& m);

/// Whether the options are for a decoder-only model, which learns from one text instead of pairs.
bool is_language_model(const ModelOptions& m);
/// Whether its attention is linear.
bool is_linear(const ModelOptions& m);

struct DataOptions {
  std::vector<std::string> train_sets, valid_sets;
  bool tsv = false;
  std::vector<std::string> data_weighting;    ///< a file of weights for each training set
  std::vector<std::string> guided_alignment;  ///< a file of alignments for each training set, or "learn"
  AlignmentUnits guided_alignment_units = AlignmentUnits::words;
  std::vector<std::string> language_tags;  ///< one for each training set; "-": none
  double corpus_temperature = 1;
  std::vector<std::string> corpus_weights;  ///< numbers, one for each training set
  double bpe_dropout = 0;
  Sides bpe_dropout_sides = Sides::both;
  double subword_alpha = 0;
  std::string vocab;
  std::int64_t vocab_size = 8000;
  std::string vocab_type = "bpe";
  bool separate_vocabs = false;
  std::int64_t max_tokens = 4096;
  std::int64_t max_length = 256;
  bool max_length_crop = false;
  bool skip_invalid = false;
  std::int64_t data_memory_mib = 1024;
};

struct LearningOptions {
  std::string after = "30e";
  std::int64_t accumulate = 1;
  double learn_rate = 0.002;
  ScheduleKind lr_schedule = ScheduleKind::inverse_sqrt;
  std::int64_t warmup = 400;
  std::int64_t lr_decay_updates = 0;
  double lr_min = 0;
  double label_smoothing = 0.1;
  kern::AlignmentCost guided_alignment_cost = kern::AlignmentCost::ce;
  double guided_alignment_weight = 0.1;
  std::string guided_alignment_layer = "last";  ///< or its number from 1
  std::int64_t guided_alignment_heads = 1;      ///< how many, from the first; 0: all
  double r_drop = 0;                            ///< alpha of Liang et al. 2021
  std::int64_t r_drop_start = 0;                ///< updates before it
  double router_aux_loss = 0;                   ///< weight of ops::load_balancing_loss
  std::vector<std::string> teacher;
  double distillation_temperature = 1, distillation_mix = 0.5;
  OptimizerKind optimizer = OptimizerKind::adam;
  double beta1 = 0.9, beta2 = 0.98, epsilon = 1e-9, weight_decay = 0;
  bool decay_matrices_only = false;
  double momentum = 0.95;
  double clip_norm = 1.0;
  double gradient_noise = 0;
  double ema = 0;
  std::int64_t average_checkpoints = 1;
  NanGuard nan_guard = NanGuard::stop;
  double spike_guard = 0;
  std::int64_t max_rollbacks = 5;
  double rollback_rate = 1;
};

struct FineTuneOptions {
  std::string init_from;  ///< directory of the initial model; empty: a new one
  std::vector<std::string> train_only, freeze;
  std::int64_t lora_rank = 0;
  double lora_alpha = 0;  ///< 0: lora_rank
  double lora_dropout = 0;
  std::vector<std::string> lora_targets{"q_proj", "v_proj"};
};

struct ValidationOptions {
  std::string valid_freq = "1e";
  std::vector<std::string> valid_metrics;
  std::int64_t valid_beam = 1;
  std::int64_t valid_samples = 6, valid_attention = 3;
  std::int64_t early_stopping = 0;
};

struct RunOptions {
  std::string model;
  bool overwrite = false;
  std::string save_freq = "1e";
  std::int64_t keep_checkpoints = 1;
  std::string disp_freq = "50u";
  std::uint64_t seed = 1;
  std::int64_t threads = 0;
  bool deterministic = false;
  std::string precision = "fp32";
  std::string reduce_precision = "fp32";  ///< in which gradients are sent between ranks
  bool shard_weights = false;             ///< no rank has all weights and gradients
  double rank_timeout = 60;               ///< seconds without a sign of life
};

struct TrainOptions {
  RunOptions run;
  DataOptions data;
  ModelOptions model;
  LearningOptions learning;
  FineTuneOptions tune;
  ValidationOptions validation;
};

/// The fields of `o`, which must not move.
Fields fields_of(TrainOptions& o);

/// The number of training sets: pairs of files, or tab-separated files.
std::size_t corpus_count(const DataOptions& d);
/// Whether `guided_alignment` is "learn".
bool learns_alignments(const DataOptions& d);
/// `corpus_weights` as numbers. @throws Error(usage) for a text that is no number above 0
std::vector<double> corpus_shares(const DataOptions& d);

/// Sets everything that a preset determines: the model's sizes and dropouts.
///   tiny  d 128, 4 heads, ffn 256, 4 + 4 layers, dropout 0.1   learning rate 0.002, warm-up 400 updates
///   base  d 512, 8 heads, ffn 2048, 6 + 6 layers, dropout 0.1  0.0007, 4,000  [Vaswani et al. 2017, table 3]
///   big   d 1024, 16 heads, ffn 4096, 6 + 6 layers, dropout 0.3  0.0005, 4,000
/// A language model has only the decoder's layers, and follows its authors' training settings: gelu_new, AdamW with
/// betas 0.9 and 0.95, decay 0.1, dropout on attention weights too, no label smoothing [Brown et al. 2020, appendix B].
void apply_preset(TrainOptions& o);

/// Checks across fields: contradictions, sizes that do not divide. Fills in values that follow from other options (the
/// updates of a linear or cosine schedule from `after`). @throws Error(usage)
void settle(TrainOptions& o);

/// Refuses options that would have no effect, such as a translation option for a language model.
/// @param fields  those of a command, some or all of fields_of(o), which record what was given
/// @throws Error(usage) naming the option
void refuse_useless(const Fields& fields, const TrainOptions& o);

/// The heads of `guided_alignment_layer` and `guided_alignment_heads`, listed by number.
/// @throws Error(usage) if the model does not have them
model::AlignmentHeads guided_heads(const LearningOptions& l, const ModelOptions& m);

/// The validation metrics, the deciding one first; the loss by default.
std::vector<Metric> metrics_of(const ValidationOptions& v);

/// The number of workers: `threads`, or every core.
int worker_threads(const RunOptions& run);
/// The number of parts of a batch: fixed under `deterministic`, so that the result does not depend on the number of
/// threads; otherwise one per worker.
int batch_parts(const RunOptions& run);

/// Reads values written by to_json(fields). Unknown keys of former options are ignored; missing ones keep their
/// defaults.
void fields_from_json(Fields& fields, const std::string& json_text, const std::string& where);

/// The differing options that affect a run's weights: "seed was 1, now 2"; "" if the run may resume.
std::string forbidden_changes(const Fields& was, const Fields& now);

}  // namespace tril::train
