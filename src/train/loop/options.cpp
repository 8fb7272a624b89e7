#include "train/loop/options.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "base/cores.h"
#include "base/number_text.h"
#include "base/printable.h"
#include "base/utf8.h"
#include "model/spec/model.h"

namespace tril::train {
namespace {

constexpr int deterministic_parts = 4;

// Accepts "loss,bleu" as one text and "loss bleu" as two; nothing if a metric is unknown.
std::optional<std::vector<Metric>> metrics_of(const std::vector<std::string>& texts) {
  std::vector<Metric> metrics;
  for (const std::string& text : texts) {
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find(',', begin), text.size());
      const std::string_view name = std::string_view(text).substr(begin, end - begin);
      if (name == "loss")
        metrics.push_back(Metric::loss);
      else if (name == "perplexity")
        metrics.push_back(Metric::perplexity);
      else if (name == "bleu")
        metrics.push_back(Metric::bleu);
      else if (name == "chrf")
        metrics.push_back(Metric::chrf);
      else
        return std::nullopt;
      begin = end + 1;
    }
  }
  return metrics;
}

std::optional<double> share_of(const std::string& text) {
  double share = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), share);
  const bool whole = problem == std::errc{} && end == text.data() + text.size();
  return whole && std::isfinite(share) && share > 0 ? std::optional(share) : std::nullopt;
}

void model_fields(Fields& f, ModelOptions& m) {
  f.group("Model");
  f.add("arch", &m.arch, "model family: gpt2 and linear_decoder are language models, the others are encoder-decoders")
      .choices(architectures());
  f.add("preset", &m.preset, "default sizes, dropout rates and learning rate; other options override them",
        {{"tiny", Preset::tiny}, {"base", Preset::base}, {"big", Preset::big}});
  f.add("d-model", &m.d_model, "model width, d_model").at_least(2).at_most(65536);
  f.add("num-heads", &m.num_heads, "number of attention heads; must divide `d_model`").at_least(1).at_most(1024);
  f.add("ffn-dim", &m.ffn_dim, "width of the feed-forward layers").at_least(1).at_most(1 << 20);
  f.add("enc-depth", &m.enc_depth, "number of encoder layers").at_least(1).at_most(1000);
  f.add("dec-depth", &m.dec_depth, "number of decoder layers").at_least(1).at_most(1000);
  f.add("activation", &m.activation, "activation of the feed-forward layers")
      .choices({"relu", "gelu", "gelu_new", "silu"});
  f.add("max-positions", &m.max_positions, "longest sequence that the model supports, in tokens")
      .at_least(2)
      .at_most(1 << 20);

  f.add("depth-scaled-init", &m.depth_scaled_init, "divide the initial weights of layer l by sqrt(l), for deep models");

  f.group("Dropout");
  f.add("dropout", &m.dropout, "dropout rate of sublayer outputs and embeddings").at_least(0).at_most(0.95);
  f.add("embedding-dropout", &m.embedding_dropout, "dropout rate of embeddings, instead of `dropout`")
      .at_least(0)
      .at_most(0.95);
  f.add("attention-dropout", &m.attention_dropout, "dropout rate of attention weights").at_least(0).at_most(0.95);
  f.add("activation-dropout", &m.activation_dropout, "dropout rate after the feed-forward activation")
      .at_least(0)
      .at_most(0.95);
  f.add("dropout-warmup", &m.dropout_warmup, "updates over which dropout rates rise: p (1 - e^(-10 t / N)); 0: none")
      .at_least(0);
  f.add("layer-drop", &m.layer_drop, "probability that a batch skips a layer").at_least(0).at_most(0.95);
}

void data_fields(Fields& f, DataOptions& d) {
  f.group("Data");
  f.add("train-sets", &d.train_sets,
        "parallel source and target files (with `tsv`, one tab-separated file); for several corpora, A.src A.tgt B.src "
        "B.tgt; for a language model, one text")
      .letter('t')
      .value_name("FILE")
      .required();
  f.add("valid-sets", &d.valid_sets, "the same, for validation").value_name("FILE");
  f.add("tsv", &d.tsv, "each set is one file with lines of source, tab, target");
  f.add("data-weighting", &d.data_weighting, "for each corpus, a file with the loss weight of each pair, one per line")
      .value_name("FILE");
  f.add("guided-alignment", &d.guided_alignment,
        "for each corpus, a file with the word alignment of each pair, one per line: \"0-0 1-2\", source word first, "
        "counted from 0; or learn: align the corpora first, as `tril align` does")
      .value_name("FILE");
  f.add("guided-alignment-units", &d.guided_alignment_units,
        "units of the alignments: words separated by spaces, or tokens of the vocabulary (including a language tag and "
        "the end token)",
        {{"words", AlignmentUnits::words}, {"tokens", AlignmentUnits::tokens}});
  f.needs("guided-alignment-units", "guided-alignment", "it has no effect without alignments");
  f.add("language-tags", &d.language_tags,
        "for each corpus, the language of the tag put before its source texts (de: >>de<<); - for none")
      .value_name("NAME");
  f.add("corpus-temperature", &d.corpus_temperature,
        "sample a corpus of n pairs in proportion to n^(1/T); 1: in proportion to its size, large: all alike")
      .at_least(1)
      .at_most(1e6);
  f.add("corpus-weights", &d.corpus_weights, "sampling weights of the corpora instead, one number each")
      .value_name("N")
      .checked_by([](const std::string& text) { return share_of(text) ? "" : "a number above 0"; });
  f.add("bpe-dropout", &d.bpe_dropout, "probability that a BPE merge is skipped, drawn again in each epoch")
      .at_least(0)
      .at_most(1);
  f.add("bpe-dropout-sides", &d.bpe_dropout_sides, "sides to which `bpe_dropout` or `subword_alpha` applies",
        {{"both", Sides::both}, {"source", Sides::source}, {"target", Sides::target}});
  f.add("subword-alpha", &d.subword_alpha,
        "sample the segmentations of a unigram vocabulary in each epoch, by their probabilities to this power; 0: do "
        "not sample")
      .at_least(0)
      .at_most(1e6);
  f.add("vocab", &d.vocab, "SentencePiece model, or model directory whose tokenizer to use; unset: train a vocabulary")
      .letter('v')
      .value_name("FILE");
  f.add("vocab-size", &d.vocab_size, "number of pieces of the vocabulary to train; fewer if the text yields fewer")
      .at_least(8)
      .at_most(1'000'000);
  f.add("vocab-type", &d.vocab_type, "type of the vocabulary to train").choices({"bpe", "unigram", "char"});
  f.add("separate-vocabs", &d.separate_vocabs, "train a separate vocabulary for each side instead of a joint one");
  f.add("max-tokens", &d.max_tokens, "maximum number of tokens in a batch: the longer sides of its pairs, added up")
      .at_least(1)
      .at_most(std::numeric_limits<std::int32_t>::max());
  f.add("max-length", &d.max_length,
        "maximum number of tokens in a sentence (longer pairs are left out); for a language model, the context length")
      .at_least(1)
      .at_most(1 << 20);
  f.add("max-length-crop", &d.max_length_crop, "truncate longer sentences instead of leaving the pair out");
  f.add("skip-invalid", &d.skip_invalid, "leave out pairs that are not valid UTF-8 instead of stopping");
  f.add("data-memory", &d.data_memory_mib, "maximum memory for sentences in MiB; larger corpora are streamed")
      .at_least(1)
      .at_most(1 << 30);
  f.excludes("corpus-weights", "corpus-temperature", "weights are either given or follow from the sizes");
  f.excludes("bpe-dropout", "subword-alpha", "one is for BPE, the other for unigram vocabularies");
  f.excludes("vocab", "vocab-size", "a vocabulary is either read or trained");
  f.excludes("vocab", "vocab-type", "a vocabulary is either read or trained");
  f.excludes("vocab", "separate-vocabs", "a vocabulary is either read or trained");
}

void learning_fields(Fields& f, LearningOptions& l) {
  f.group("Learning");
  f.add("after", &l.after,
        "how long to train: 8000u updates, 30e epochs, 10m minutes, 5Gt target tokens; several, such as 30e,10m: "
        "whichever comes first")
      .letter('a')
      .value_name("AMOUNT")
      .checked_by(amounts_expected)
      .free_to_change();
  f.add("accumulate", &l.accumulate, "batches whose gradients make one update, on each rank")
      .at_least(1)
      .at_most(1 << 20);
  f.add("learn-rate", &l.learn_rate, "peak learning rate").letter('l').above(0).at_most(1000);
  f.add("lr-schedule", &l.lr_schedule, "shape of the learning rate after the warm-up",
        {{"inverse_sqrt", ScheduleKind::inverse_sqrt},
         {"linear", ScheduleKind::linear},
         {"cosine", ScheduleKind::cosine},
         {"constant", ScheduleKind::constant}});
  f.add("warmup", &l.warmup, "updates over which the learning rate rises to its peak").at_least(0);
  f.add("lr-decay-updates", &l.lr_decay_updates, "update at which a linear or cosine schedule ends; 0: that of `after`")
      .at_least(0);
  f.add("lr-min", &l.lr_min, "learning rate at the end of a linear or cosine schedule").at_least(0);
  f.add("guided-alignment-cost", &l.guided_alignment_cost,
        "alignment loss: cross-entropy, squared error, or -log of the total weight on the aligned tokens",
        {{"ce", kern::AlignmentCost::ce}, {"mse", kern::AlignmentCost::mse}, {"mult", kern::AlignmentCost::mult}});
  f.add("guided-alignment-weight", &l.guided_alignment_weight,
        "weight of the alignment loss, added to the loss of the targets")
      .above(0);
  f.add("guided-alignment-layer", &l.guided_alignment_layer,
        "decoder layer whose cross-attention learns the alignments: a number from 1, or last")
      .value_name("N");
  f.add("guided-alignment-heads", &l.guided_alignment_heads,
        "number of heads of that layer, from the first, whose mean learns the alignments; 0: all")
      .at_least(0);
  for (const char* name :
       {"guided-alignment-cost", "guided-alignment-weight", "guided-alignment-layer", "guided-alignment-heads"})
    f.needs(name, "guided-alignment", "it has no effect without alignments");
  f.add("label-smoothing", &l.label_smoothing, "part of the target's probability that is spread over the vocabulary")
      .at_least(0)
      .at_most(0.9);
  f.add("r-drop", &l.r_drop,
        "alpha of R-Drop: run each batch twice with different dropout and penalise the divergence of the two outputs; "
        "0: off")
      .at_least(0)
      .at_most(1000);
  f.add("r-drop-start", &l.r_drop_start, "number of updates before R-Drop begins; until then each batch runs once")
      .at_least(0);
  f.add("router-aux-loss", &l.router_aux_loss,
        "weight of the load-balancing loss of mixture-of-experts models (router_aux_loss_coef); 0: off")
      .at_least(0)
      .at_most(1000);
  f.add("teacher", &l.teacher, "directories of teacher models for distillation; the student uses their vocabulary")
      .value_name("DIR");
  f.add("distillation-temperature", &l.distillation_temperature,
        "temperature of the teacher's and the student's distributions")
      .at_least(0.01)
      .at_most(1000);
  f.add("distillation-mix", &l.distillation_mix, "weight of the teacher in the loss; the targets have the rest")
      .at_least(0)
      .at_most(1);
  f.needs("r-drop-start", "r-drop", "it has no effect without R-Drop");
  f.excludes("teacher", "r-drop", "choose one of the two divergences");
  f.excludes("teacher", "vocab-size", "the student uses the teacher's vocabulary");
  f.excludes("teacher", "vocab-type", "the student uses the teacher's vocabulary");
  f.excludes("teacher", "separate-vocabs", "the student uses the teacher's vocabulary");
  f.needs("distillation-temperature", "teacher", "it has no effect without a teacher");
  f.needs("distillation-mix", "teacher", "it has no effect without a teacher");
  f.add("optimizer", &l.optimizer,
        "optimizer; adamw decouples the weight decay from the gradient; muon uses adamw for everything except matrices",
        {{"adam", OptimizerKind::adam},
         {"adamw", OptimizerKind::adamw},
         {"lion", OptimizerKind::lion},
         {"adafactor", OptimizerKind::adafactor},
         {"muon", OptimizerKind::muon}})
      .letter('o');
  f.add("beta1", &l.beta1, "decay of the gradient's moving average; not used by adafactor")
      .at_least(0)
      .at_most(0.999999);
  f.add("beta2", &l.beta2,
        "decay of the squared gradient's moving average (lion: of the gradient's; adafactor: its own)")
      .at_least(0)
      .at_most(0.999999);
  f.add("epsilon", &l.epsilon, "added to the square root of that average (adam, adamw, muon)").above(0);
  f.add("momentum", &l.momentum, "muon: decay of the matrices' momentum").at_least(0).at_most(0.999999);
  f.add("weight-decay", &l.weight_decay, "weight decay, multiplied by the learning rate; adam: L2 penalty").at_least(0);
  f.add("decay-matrices-only", &l.decay_matrices_only, "do not decay norms and biases");
  f.add("clip-norm", &l.clip_norm, "clip the gradient to this global norm; 0: no clipping").at_least(0);
  f.add("gradient-noise", &l.gradient_noise,
        "add Gaussian noise of variance N / (1 + update)^0.55 to the gradient; 0: none")
      .at_least(0);
  f.add("ema", &l.ema,
        "decay of a moving average of the weights, which is the model that is validated and saved; 0: none")
      .at_least(0)
      .at_most(0.9999999);
  f.add("average-checkpoints", &l.average_checkpoints,
        "number of latest validations whose weights are averaged, then validated and saved; 1: none")
      .at_least(1)
      .at_most(1000);
  f.add("nan-guard", &l.nan_guard,
        "what to do if the loss or gradient is not a number: stop, skip the update, or roll back to the last "
        "checkpoint and continue with other data",
        {{"stop", NanGuard::stop}, {"skip", NanGuard::skip}, {"rollback", NanGuard::rollback}})
      .free_to_change();
  f.add("spike-guard", &l.spike_guard,
        "do the same if the loss or gradient norm is N standard deviations above its running average; 0: off")
      .at_least(0)
      .free_to_change();
  f.add("max-rollbacks", &l.max_rollbacks, "stop after this many rollbacks").at_least(1).free_to_change();
  f.add("rollback-rate", &l.rollback_rate, "multiply the learning rate by this factor at each rollback")
      .above(0)
      .at_most(1)
      .free_to_change();
}

void fine_tune_fields(Fields& f, FineTuneOptions& t) {
  f.group("Fine-tuning");
  f.add("init-from", &t.init_from, "directory of the model to start from; its vocabulary is used too")
      .value_name("DIR");
  f.add("train-only", &t.train_only, "names of the weights to train (decoder.*); all others are frozen")
      .value_name("PATTERN");
  f.add("freeze", &t.freeze, "names of the weights to freeze (embed*)").value_name("PATTERN");
  f.add("lora-rank", &t.lora_rank,
        "train LoRA adapters of this rank instead of the weights; at most the smaller side of their matrices; 0: train "
        "the weights")
      .at_least(0)
      .at_most(65536);
  f.add("lora-alpha", &t.lora_alpha, "scale the adapters by alpha / rank; 0: do not scale").at_least(0);
  f.add("lora-dropout", &t.lora_dropout, "dropout rate of the adapters' inputs").at_least(0).at_most(0.95);
  f.add("lora-targets", &t.lora_targets, "names of the linear layers that get adapters").value_name("PATTERN");
  for (const char* name : {"train-only", "freeze", "lora-rank"})
    f.needs(name, "init-from", "without a model to start from, everything must be trained");
  f.needs("router-aux-loss", "init-from", "no `arch` has experts; models of the family mixtral have");
  f.excludes("router-aux-loss", "gradient-checkpointing", "the routers of recomputed layers are not recorded");
  for (const char* name : {"lora-alpha", "lora-dropout", "lora-targets"})
    f.needs(name, "lora-rank", "it has no effect without adapters");
  for (const char* name : {"train-only", "freeze"}) f.excludes(name, "lora-rank", "only the adapters are trained");
  for (const char* name : {"vocab", "vocab-size", "vocab-type", "separate-vocabs"})
    f.excludes("init-from", name, "the vocabulary comes from the model");
  for (const char* name :
       {"preset", "d-model", "num-heads", "ffn-dim", "enc-depth", "dec-depth", "activation", "max-positions"})
    f.excludes("init-from", name, "the sizes come from the model");
  f.excludes("init-from", "depth-scaled-init", "the model is already initialised");
}

void validation_fields(Fields& f, ValidationOptions& v) {
  f.group("Validation");
  f.add("valid-freq", &v.valid_freq, "how often to validate: 500u, 1e, 10m")
      .value_name("AMOUNT")
      .checked_by(amounts_expected);
  f.add("valid-metrics", &v.valid_metrics,
        "validation metrics: loss, perplexity, bleu, chrf; the first decides which model is best")
      .value_name("NAMES")
      .checked_by([](const std::string& text) { return metrics_of({text}) ? "" : "loss, perplexity, bleu or chrf"; });
  f.add("valid-beam", &v.valid_beam, "beam size for validation translations").at_least(1).at_most(1024);
  f.add("valid-samples", &v.valid_samples,
        "number of validation sentences whose translations the report shows; 0: none")
      .at_least(0)
      .at_most(100)
      .free_to_change();
  f.add("valid-attention", &v.valid_attention, "number of those sentences shown with attention maps")
      .at_least(0)
      .at_most(20)
      .free_to_change();
  f.add("early-stopping", &v.early_stopping, "stop after this many validations without improvement; 0: never")
      .at_least(0)
      .free_to_change();
}

void run_fields(Fields& f, RunOptions& r, ModelOptions& m) {
  f.group("Run");
  f.add("model", &r.model, "model directory; if it holds a run, training resumes")
      .letter('m')
      .value_name("DIR")
      .required();
  f.add("overwrite", &r.overwrite, "start over if the directory already holds a run").free_to_change();
  f.add("save-freq", &r.save_freq, "how often to save: 500u, 1e, 10m")
      .value_name("AMOUNT")
      .checked_by(amounts_expected)
      .free_to_change();
  f.add("keep-checkpoints", &r.keep_checkpoints, "number of checkpoints to keep").at_least(1).free_to_change();
  f.add("disp-freq", &r.disp_freq, "how often to report: 50u, 1e, 1m")
      .value_name("AMOUNT")
      .checked_by(amounts_expected)
      .free_to_change();
  f.add("seed", &r.seed, "seed of the initial weights, the data order and dropout");
  f.add("threads", &r.threads, "cores to use; 0: all").at_least(0).at_most(1024).free_to_change();
  f.add("deterministic", &r.deterministic, "get the same weights with any number of threads (up to 4) and ranks");
  f.add("gradient-checkpointing", &m.gradient_checkpointing,
        "recompute activations in the backward pass: less memory, more time");
  f.add("precision", &r.precision, "precision of the computation").choices({"fp32", "bf16"});
  f.add("reduce-precision", &r.reduce_precision, "precision of the gradients exchanged between ranks")
      .choices({"fp32", "bf16"});
  f.add("shard-weights", &r.shard_weights,
        "for models larger than one rank's memory: each rank keeps its share of weights and gradients, and layers are "
        "gathered when needed")
      .free_to_change();
  f.add("rank-timeout", &r.rank_timeout, "save and end the run if a rank does not respond for this many seconds")
      .at_least(1)
      .at_most(86'400)
      .free_to_change();
}

std::vector<std::string> texts_of(const nlohmann::json& value) {
  const auto text = [](const nlohmann::json& v) { return v.is_string() ? v.get<std::string>() : v.dump(); };
  if (value.is_null()) return {};
  if (!value.is_array()) return {text(value)};
  std::vector<std::string> texts;
  for (const nlohmann::json& v : value) texts.push_back(text(v));
  return texts;
}

}  // namespace

Fields fields_of(TrainOptions& o) {
  Fields f;
  run_fields(f, o.run, o.model);
  data_fields(f, o.data);
  model_fields(f, o.model);
  learning_fields(f, o.learning);
  fine_tune_fields(f, o.tune);
  validation_fields(f, o.validation);
  for (const char* name : {"ema", "average-checkpoints", "valid-samples", "valid-attention"})
    f.excludes("shard-weights", name, "then no rank has all weights");
  for (const char* name : {"train-only", "freeze", "lora-rank"})
    f.excludes("shard-weights", name, "layers are freed after their gradients, so all of them must be trained");
  f.excludes("shard-weights", "deterministic",
             "then gradients are summed in a different order for each number of ranks");
  f.excludes("shard-weights", "teacher", "the teacher's layers would be confused with the student's");
  return f;
}

std::size_t corpus_count(const DataOptions& d) {
  return d.train_sets.size() / (d.tsv ? 1 : 2);
}

bool learns_alignments(const DataOptions& d) {
  return d.guided_alignment == std::vector<std::string>{"learn"};
}

std::vector<double> corpus_shares(const DataOptions& d) {
  std::vector<double> shares;
  for (const std::string& text : d.corpus_weights) {
    const std::optional<double> share = share_of(text);
    check(share.has_value(), "corpus_weights", "expected numbers above 0, got {}", text);
    shares.push_back(*share);
  }
  return shares;
}

std::vector<std::string> architectures() {
  return {"marian", "bart", "mbart", "m2m_100", "pegasus", "t5", "mt5", "gpt2", "linear_decoder"};
}

bool is_t5(const ModelOptions& m) {
  return m.arch == "t5" || m.arch == "mt5";
}

bool is_language_model(const ModelOptions& m) {
  return m.arch == "gpt2" || is_linear(m);
}

bool is_linear(const ModelOptions& m) {
  return m.arch == "linear_decoder";
}

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
  if (m.arch == "mt5") m.activation = "gelu_new";
  if (m.arch == "bart" || m.arch == "mbart") m.activation = "gelu";
  if (!is_language_model(m)) return;
  m.activation = "gelu_new";
  m.attention_dropout = is_linear(m) ? 0 : m.dropout;
  o.learning.label_smoothing = 0;
  o.learning.optimizer = OptimizerKind::adamw;
  o.learning.beta2 = 0.95, o.learning.epsilon = 1e-8, o.learning.weight_decay = 0.1;
  o.learning.decay_matrices_only = true;
}

namespace {

// Options that only translation has: corpora of pairs.
void settle_pairs(const DataOptions& d) {
  const std::size_t files = d.tsv ? 1 : 2, corpora = corpus_count(d);
  const auto what = d.tsv ? "tab-separated files" : "a source and a target file for each corpus (or `tsv`)";
  check(corpora > 0 && d.train_sets.size() % files == 0, "train_sets", "expected {}, got {}", what,
        counted(d.train_sets.size(), "file"));
  check(d.valid_sets.size() % files == 0, "valid_sets", "expected {}, got {}", what,
        counted(d.valid_sets.size(), "file"));
  check(learns_alignments(d) || std::ranges::count(d.guided_alignment, "learn") == 0, "guided_alignment",
        "learn stands for the alignments of all corpora: pass it once, without files (write ./learn for a file of that "
        "name)");
  check(d.max_tokens >= 2, "max_tokens",
        "{} is too small: a sentence has at least 2 tokens, one text token and the end token", d.max_tokens);
  check(!learns_alignments(d) || d.guided_alignment_units == AlignmentUnits::words, "guided_alignment_units",
        "learned alignments are alignments of words");
  const std::vector<std::string> none;
  for (const auto& [name, list] : {std::pair{"data_weighting", &d.data_weighting},
                                   {"guided_alignment", learns_alignments(d) ? &none : &d.guided_alignment},
                                   {"language_tags", &d.language_tags},
                                   {"corpus_weights", &d.corpus_weights}})
    check(list->empty() || list->size() == corpora, name, "expected one for each of {} corpora, got {}", corpora,
          list->size());
  check(d.language_tags.empty() || d.valid_sets.empty() || d.valid_sets.size() == d.train_sets.size(), "valid_sets",
        "expected one set for each of {} corpora, with the same tags, got {}", corpora, d.valid_sets.size() / files);
  check(d.bpe_dropout_sides == Sides::both || d.bpe_dropout > 0 || d.subword_alpha > 0, "bpe_dropout_sides",
        "has no effect without `bpe_dropout` or `subword_alpha`");
  check(d.vocab_type != "char" || !d.vocab.empty(), "vocab_type",
        "char is for language models; use bpe or unigram for translation");
}

// Refuses what a language model does not use; its context is its positions.
void settle_language_model(TrainOptions& o) {
  DataOptions& d = o.data;
  ModelOptions& m = o.model;
  const std::string arch = "a " + m.arch + " model";
  check(d.train_sets.size() == 1 && !d.tsv, "train_sets", "{} learns from one text, got {}", arch,
        d.tsv ? "`tsv`" : counted(d.train_sets.size(), "file"));
  check(d.valid_sets.size() <= 1, "valid_sets", "{} is validated on one text, got {} files", arch, d.valid_sets.size());
  check(d.vocab_type == "char" || !d.vocab.empty() || !o.tune.init_from.empty(), "vocab_type",
        "learning a \"{}\" vocabulary for {} is not supported: pass `vocab_type` char, or `vocab` with a directory",
        d.vocab_type, arch);
  check(!d.separate_vocabs, "separate_vocabs", "{} has one side", arch);
  for (const auto& [name, list] : {std::pair{"data_weighting", &d.data_weighting},
                                   {"guided_alignment", &d.guided_alignment},
                                   {"language_tags", &d.language_tags},
                                   {"corpus_weights", &d.corpus_weights}})
    check(list->empty(), name, "is for pairs; {} learns from one text", arch);
  check(d.bpe_dropout == 0 && d.subword_alpha == 0, d.bpe_dropout > 0 ? "bpe_dropout" : "subword_alpha",
        "{} does not support it", arch);
  check(m.activation_dropout == 0, "activation_dropout", "{} has no activation dropout", arch);
  check(m.attention_dropout == 0 || !is_linear(m), "attention_dropout", "{} has no attention weights", arch);
  check(d.max_tokens >= d.max_length, "max_tokens", "a batch of {} tokens cannot hold a block of `max_length` {}",
        d.max_tokens, d.max_length);
  check(m.max_positions == ModelOptions{}.max_positions || m.max_positions == d.max_length, "max_positions",
        "{} differs from `max_length` {}, the context length of {}", m.max_positions, d.max_length, arch);
  m.max_positions = d.max_length;
  for (Metric metric : metrics_of(o.validation))
    check(metric == Metric::loss || metric == Metric::perplexity, "valid_metrics",
          "BLEU and chrF are for translations; {} has loss and perplexity", arch);
}

}  // namespace

void settle(TrainOptions& o) {
  const ModelOptions& m = o.model;
  check(m.d_model % m.num_heads == 0 || !o.tune.init_from.empty(), "num_heads", "{} heads do not divide `d_model` {}",
        m.num_heads, m.d_model);
  if (is_language_model(m)) settle_language_model(o);
  check(m.arch == "gpt2" || m.d_model % 2 == 0, "d_model", "{} is odd, sinusoidal positions need pairs", m.d_model);

  const DataOptions& d = o.data;
  if (!is_language_model(m)) settle_pairs(d);
  check(d.max_length <= m.max_positions, "max_length", "{} tokens are more than the model's `max_positions` {}",
        d.max_length, m.max_positions);

  const ValidationOptions& v = o.validation;
  if (d.valid_sets.empty()) {
    check(v.valid_metrics.empty(), "valid_metrics", "has no effect without `valid_sets`");
    check(v.early_stopping == 0, "early_stopping", "has no effect without `valid_sets`");
  }

  check(
      !o.run.deterministic || o.run.reduce_precision == "fp32", "reduce_precision",
      "bf16 rounds each rank's gradients, so the result depends on the number of ranks, but `deterministic` was given");

  if (o.run.shard_weights) {
    for (Metric metric : metrics_of(v))
      check(metric == Metric::loss || metric == Metric::perplexity, "valid_metrics",
            "BLEU and chrF need a process that has all weights, but `shard_weights` was given");
    o.validation.valid_samples = 0;
  }

  LearningOptions& l = o.learning;
  const bool drops = m.dropout > 0 || m.embedding_dropout.value_or(0) > 0 || m.attention_dropout > 0 ||
                     m.activation_dropout > 0 || o.tune.lora_dropout > 0;
  check(l.r_drop == 0 || drops, "r_drop", "has no effect without dropout: both passes are the same");
  check(m.dropout_warmup == 0 || drops, "dropout_warmup", "has no effect without dropout");
  if (is_language_model(m)) {
    check(l.teacher.empty(), "teacher", "is for encoder-decoders, but `arch` {} is a language model", m.arch);
    check(m.layer_drop == 0, "layer_drop", "is for encoder-decoders, but `arch` {} is a language model", m.arch);
  }
  check(!is_t5(m) || m.layer_drop == 0, "layer_drop", "`arch` {} does not support it", m.arch);
  check(!m.depth_scaled_init || m.arch == "marian" || m.arch == "bart", "depth_scaled_init",
        "is for post-norm models, but `arch` {} is pre-norm", m.arch);
  check(!o.data.separate_vocabs || m.arch == "marian", "separate_vocabs", "`arch` {} has one vocabulary for both sides",
        m.arch);
  if (!l.teacher.empty() && o.data.vocab.empty()) o.data.vocab = l.teacher[0];
  if (!o.data.guided_alignment.empty()) guided_heads(l, m);
  check(l.ema == 0 || l.average_checkpoints == 1, "average_checkpoints",
        "cannot be combined with `ema`: only one average of the weights is saved");
  const bool needs_end = has_end(l.lr_schedule);
  if (needs_end && l.lr_decay_updates == 0) {
    for (const Amount& a : parse_amounts(l.after, "after"))
      if (a.unit == Unit::updates) l.lr_decay_updates = static_cast<std::int64_t>(a.value);
    if (l.lr_decay_updates == 0)
      fail_usage("lr_schedule", "a linear or cosine schedule needs a last update, and none is given",
                 "pass `lr_decay_updates` N, or `after` with updates (8000u)");
  }
  check(l.lr_min == 0 || needs_end, "lr_min", "has no effect: only a linear or cosine schedule has an end");
  check(l.lr_min <= l.learn_rate, "lr_min", "{} is above the peak of {}", l.lr_min, l.learn_rate);
  check(!needs_end || l.lr_decay_updates > l.warmup, "lr_decay_updates", "{} updates end before the warm-up of {}",
        l.lr_decay_updates, l.warmup);

  check(!o.run.deterministic || o.run.threads <= deterministic_parts, "threads",
        "`deterministic` splits each batch into {} parts, too few for {} threads", deterministic_parts, o.run.threads);
  for (const Field& field : fields_of(o))  // the log and the checkpoints hold all of them as JSON
    for (const std::string& text : field.texts())
      check(is_utf8(text), field.name(), "expected UTF-8, got \"{}\"", printable(text));
}

void refuse_useless(const Fields& fields, const TrainOptions& o) {
  if (!is_language_model(o.model)) return;
  const std::string arch = "`arch` " + o.model.arch;
  const std::vector<std::pair<std::string, std::string>> useless{
      {"enc-depth", arch + " has no encoder; `dec_depth` sets its number of layers"},
      {"bpe-dropout-sides", arch + " has one side"},
      {"corpus-temperature", "is for several corpora, but " + arch + " learns from one text"},
      {"max-length-crop", arch + " splits its text into blocks, so nothing is left out or truncated"},
      {"skip-invalid", arch + " learns from a whole text, which must be UTF-8"},
      {"vocab-size", "the vocabulary is the characters of the text; `vocab` takes a directory with another one"},
      {"valid-beam", "is for translations, but " + arch + " is measured by its loss"},
      {"valid-samples", "is for translations, but " + arch + " is measured by its loss"},
      {"valid-attention", "is for translations, but " + arch + " is measured by its loss"},
  };
  for (const auto& [name, why] : useless)
    if (const Field* field = fields.find(name); field && field->given()) fail_usage(field->given_at(), why);
}

model::AlignmentHeads guided_heads(const LearningOptions& l, const ModelOptions& m) {
  model::AlignmentHeads heads;
  heads.layer = m.dec_depth - 1;
  if (l.guided_alignment_layer != "last") {
    const char* const end = l.guided_alignment_layer.data() + l.guided_alignment_layer.size();
    const auto [at, error] = std::from_chars(l.guided_alignment_layer.data(), end, heads.layer);
    check(error == std::errc() && at == end && heads.layer >= 1 && heads.layer <= m.dec_depth, "guided_alignment_layer",
          "expected last or a number from 1 to {}, got \"{}\"", m.dec_depth, l.guided_alignment_layer);
    --heads.layer;
  }
  check(l.guided_alignment_heads <= m.num_heads, "guided_alignment_heads", "{} of {} heads", l.guided_alignment_heads,
        m.num_heads);
  const std::int64_t count = l.guided_alignment_heads > 0 ? l.guided_alignment_heads : m.num_heads;
  for (std::int64_t h = 0; h < count; ++h) heads.heads.push_back(static_cast<std::int32_t>(h));
  return heads;
}

std::vector<Metric> metrics_of(const ValidationOptions& v) {
  const auto metrics = metrics_of(v.valid_metrics);
  check(metrics.has_value(), "valid_metrics", "expected loss, perplexity, bleu or chrf");
  return metrics->empty() ? std::vector{Metric::loss} : *metrics;
}

int worker_threads(const RunOptions& run) {
  const int wanted = thread_count(run.threads);
  return run.deterministic ? std::min(wanted, deterministic_parts) : wanted;
}

int batch_parts(const RunOptions& run) {
  return run.deterministic ? deterministic_parts : worker_threads(run);
}

void fields_from_json(Fields& fields, const std::string& json_text, const std::string& where) {
  const nlohmann::json json = nlohmann::json::parse(json_text, nullptr, false);
  check(json.is_object(), where, "expected the options of a run as a JSON object");
  for (const auto& [key, value] : json.items())
    if (fields.find(key)) fields.set_from_texts(key, texts_of(value), where);
}

std::string forbidden_changes(const Fields& was, const Fields& now) {
  std::vector<FieldDifference> list = differences(was, now);
  std::erase_if(list, [](const FieldDifference& d) {
    // The directory may have moved. Files are identified by name, and the corpus by its fingerprint.
    return d.free_to_change || d.name == "model";
  });
  return describe(list);
}

}  // namespace tril::train
