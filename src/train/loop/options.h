// All options of a training run, each declared once: flags, YAML keys, help, the dump, and the comparison with the
// options of a resumed run all come from fields_of(), which also reads them from text. Names follow Marian's where
// Marian has the option.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"
#include "base/placement.h"
#include "corpus/alignment.h"
#include "corpus/lm_corpus.h"
#include "corpus/vocabulary.h"
#include "dist/ranks.h"
#include "kern/kernels.h"
#include "model/spec/hidden_act.h"
#include "nn/parameter.h"
#include "train/distributed/exchange.h"
#include "train/loop/units.h"
#include "train/optim/schedule.h"
#include "train/optim/update_rule.h"

namespace tril::nn {
struct AttentionHeads;
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
  model::HiddenAct activation = model::HiddenAct::relu;  ///< not used if the family has only its own
  double dropout = 0.1;                                  ///< on each sublayer's output, and on embeddings
  std::optional<double> embedding_dropout;               ///< on embeddings, if different
  double attention_dropout = 0;                          ///< attention weights
  double activation_dropout = 0;                         ///< after the activation of the feed-forward
  std::int64_t max_positions = 512;
  std::int64_t dropout_warmup = 0;
  double layer_drop = 0;  ///< probability that a layer is skipped in a batch
  bool depth_scaled_init = false;
  bool gradient_checkpointing = false;
  std::vector<std::string> model_keys;  ///< KEY=VALUE of a new model's config.json
};

/// Whether the options are for a decoder-only model, which learns from one text instead of pairs.
bool is_language_model(const ModelOptions& m);
/// Whether the options are for a model with linear attention.
bool is_linear(const ModelOptions& m);

/// Where the alignments of the training pairs come from: a file for each corpus, or learned before the first update.
struct Alignments {
  bool learn = false;
  std::vector<std::string> files;
  bool none() const { return !learn && files.empty(); }
};

struct DataOptions {
  std::vector<std::string> train_sets, valid_sets;
  bool tsv = false;
  std::vector<std::string> data_weighting;  ///< a file of weights for each training set
  Alignments guided_alignment;
  AlignmentUnits guided_alignment_units = AlignmentUnits::words;
  std::vector<std::string> language_tags;  ///< ">>de<<", one for each training set; "": none
  double corpus_temperature = 1;
  std::vector<double> corpus_weights;  ///< above 0, one for each training set
  double bpe_dropout = 0;
  Sides bpe_dropout_sides = Sides::both;
  double subword_alpha = 0;
  std::string vocab;
  std::int64_t vocab_size = 8000;
  SubwordKind vocab_type = SubwordKind::bpe;
  bool separate_vocabs = false;
  std::int64_t max_tokens = 4096;
  std::int64_t max_length = 256;
  bool max_length_crop = false;
  bool skip_invalid = false;
  std::int64_t data_memory_mib = 1024;
  Documents documents = Documents::whole;  ///< of a language model's text
};

/// The value of `guided_alignment_layer` for the decoder's last layer.
inline constexpr std::int64_t last_layer = 0;

struct LearningOptions {
  Amounts after{{30, Unit::epochs}};
  std::int64_t accumulate = 1;
  double learn_rate = 0.002;
  ScheduleKind lr_schedule = ScheduleKind::inverse_sqrt;
  std::int64_t warmup = 400;
  std::int64_t lr_decay_updates = 0;
  double lr_min = 0;
  double label_smoothing = 0.1;
  kern::AlignmentCost guided_alignment_cost = kern::AlignmentCost::ce;
  double guided_alignment_weight = 0.1;
  std::int64_t guided_alignment_layer = last_layer;  ///< or a layer's number, from 1
  std::int64_t guided_alignment_heads = 1;           ///< how many, from the first; 0: all
  double r_drop = 0;                                 ///< alpha of Liang et al. 2021
  std::int64_t r_drop_start = 0;                     ///< updates before it
  double router_aux_loss = 0;                        ///< weight of ops::load_balancing_loss
  std::vector<std::string> teacher;
  double distillation_temperature = 1, distillation_mix = 0.5;
  OptimizerKind optimizer = OptimizerKind::adam;
  StateBits optimizer_bits = StateBits::full;
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
  std::int64_t medusa_heads = 0, medusa_layers = 1;
  bool medusa_own_output = false;
  double medusa_decay = 0.8;  ///< lambda
};

struct ValidationOptions {
  Amounts valid_freq{{1, Unit::epochs}};
  std::vector<Metric> valid_metrics;  ///< the deciding one first; none: the loss
  std::int64_t valid_beam = 1;
  std::int64_t valid_samples = 6, valid_attention = 3;
  std::int64_t early_stopping = 0;
};

struct RunOptions {
  std::string model;
  bool overwrite = false;
  Amounts save_freq{{1, Unit::epochs}};
  std::int64_t keep_checkpoints = 1;
  Amounts disp_freq{{50, Unit::updates}};
  std::uint64_t seed = 1;
  std::int64_t threads = 0;
  PlacementOptions placement;  ///< of the threads and their memory
  bool deterministic = false;
  nn::Precision precision = nn::Precision::fp32;
  WirePrecision reduce_precision = WirePrecision::fp32;  ///< of gradients sent between ranks
  bool shard_weights = false;                            ///< no rank has all weights and gradients
  double rank_timeout = 60;                              ///< seconds without a sign of life
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
/// The heads of `guided_alignment_layer` and `guided_alignment_heads`, listed by number.
/// @throws Error(usage) if the model does not have them
nn::AttentionHeads guided_heads(const LearningOptions& l, const ModelOptions& m);

/// The metric that decides which model is best.
Metric deciding_metric(const ValidationOptions& v);

/// The parts of a batch under `deterministic`.
inline constexpr int deterministic_parts = 4;
/// The number of workers: `threads`, or every core.
int worker_threads(const RunOptions& run);
/// Where they run. @param numa  of their memory
Placement worker_placement(const RunOptions& run, Numa numa);
/// Divides the cores of a machine among the ranks there: sets `threads` if it is 0, and which cores `pin` leaves to others.
void share_cores(RunOptions& run, const dist::Ranks& ranks);
/// The number of parts of a batch: fixed under `deterministic`, so that the result does not depend on the number of
/// threads; otherwise one per worker.
int batch_parts(const RunOptions& run);

}  // namespace tril::train
