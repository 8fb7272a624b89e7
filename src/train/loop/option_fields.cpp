// The declarations of all training options: name, help, limits, and what excludes or needs what.
#include <algorithm>
#include <charconv>
#include <limits>

#include "tokenizer/files/language_tag.h"
#include "train/families/new_family.h"
#include "train/loop/options.h"

namespace tril::train {
namespace {

// Files of alignments, or the word learn.
ListForm<Alignments> alignments_form() {
  return {
      [](const std::vector<std::string>& texts, const std::string& where) {
        const bool learn = std::find(texts.begin(), texts.end(), "learn") != texts.end();
        check(
            !learn || texts.size() == 1, where,
            "learn stands for the alignments of all corpora: pass it once, without files (write ./learn for a file of "
            "that name)");
        return Alignments{.learn = learn, .files = learn ? std::vector<std::string>{} : texts};
      },
      [](const Alignments& a) { return a.learn ? std::vector<std::string>{"learn"} : a.files; }};
}

// Tags, each by its language; "-" is none.
ListForm<std::vector<std::string>> tags_form() {
  return {[](const std::vector<std::string>& names, const std::string& where) {
            std::vector<std::string> tags;
            for (const std::string& name : names) tags.push_back(name == "-" ? "" : language_tag(name, where));
            return tags;
          },
          [](const std::vector<std::string>& tags) {
            std::vector<std::string> names;
            for (const std::string& tag : tags) names.push_back(tag.empty() ? "-" : tag.substr(2, tag.size() - 4));
            return names;
          }};
}

// A layer from 1, or last.
TextForm<std::int64_t> layer_form() {
  return {[](const std::string& text, const std::string& where) {
            if (text == "last") return last_layer;
            std::int64_t layer = 0;
            const char* const end = text.data() + text.size();
            const auto [at, problem] = std::from_chars(text.data(), end, layer);
            check(problem == std::errc() && at == end && layer >= 1, where,
                  "expected last or a number from 1, got \"{}\"", text);
            return layer;
          },
          [](const std::int64_t& layer) { return layer == last_layer ? "last" : std::to_string(layer); }};
}

void model_fields(Fields& f, ModelOptions& m) {
  f.group("Model");
  f.add("arch", &m.arch,
        "family of a new model: encoder-decoders from marian to switch_transformers, then language models; marian_ssru "
        "is "
        "a marian_nmt with an SSRU in the decoder")
      .choices(architectures());
  f.add("preset", &m.preset, "default sizes, dropout rates and learning rate; other options override them",
        {{"tiny", Preset::tiny}, {"base", Preset::base}, {"big", Preset::big}});
  f.add("d-model", &m.d_model, "model width, d_model").at_least(2).at_most(65536);
  f.add("num-heads", &m.num_heads, "number of attention heads; must divide `d_model`").at_least(1).at_most(1024);
  f.add("ffn-dim", &m.ffn_dim, "width of the feed-forward layers").at_least(1).at_most(1 << 20);
  f.add("enc-depth", &m.enc_depth, "number of encoder layers").at_least(1).at_most(1000);
  f.add("dec-depth", &m.dec_depth, "number of decoder layers").at_least(1).at_most(1000);
  using enum model::HiddenAct;
  f.add("activation", &m.activation, "activation of the feed-forward layers; unset: the family's",
        {{"relu", relu},
         {"gelu", gelu},
         {"gelu_new", gelu_new},
         {"silu", silu},
         {"relu2", relu2},
         {"gelu_pytorch_tanh", gelu_pytorch_tanh}});
  f.add("max-positions", &m.max_positions, "longest sequence that the model supports, in tokens")
      .at_least(2)
      .at_most(1 << 20);

  f.add("model-keys", &m.model_keys,
        "further keys of a new model's config.json, each as KEY=VALUE: sliding_window=64, num_experts=4, "
        "encoder.sliding_window=8")
      .value_name("KEY=VALUE");
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
  f.add("valid-sets", &d.valid_sets, "files for validation, as for `train_sets`").value_name("FILE");
  f.add("tsv", &d.tsv, "each set is one file with lines of source, tab, target");
  f.add("data-weighting", &d.data_weighting, "for each corpus, a file with the loss weight of each pair, one per line")
      .value_name("FILE");
  f.add("guided-alignment", &d.guided_alignment,
        "for each corpus, a file with the word alignment of each pair, one per line: \"0-0 1-2\", source word first, "
        "counted from 0; or learn: align the corpora first, as `tril align` does",
        alignments_form())
      .value_name("FILE");
  f.add("guided-alignment-units", &d.guided_alignment_units,
        "units of the alignments: words separated by spaces, or tokens of the vocabulary (including a language tag and "
        "the end token)",
        {{"words", AlignmentUnits::words}, {"tokens", AlignmentUnits::tokens}});
  f.needs("guided-alignment-units", "guided-alignment", "it has no effect without alignments");
  f.add("language-tags", &d.language_tags,
        "for each corpus, the language of the tag put before its source texts (de: >>de<<); - for none", tags_form())
      .value_name("NAME");
  f.add("corpus-temperature", &d.corpus_temperature,
        "sample a corpus of n pairs in proportion to n^(1/T); 1: in proportion to its size; large values: all equally")
      .at_least(1)
      .at_most(1e6);
  f.add("corpus-weights", &d.corpus_weights,
        "sampling weights of the corpora, one number each, instead of a temperature")
      .above(0);
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
  f.add("vocab-type", &d.vocab_type, "type of the vocabulary to train", subword_names());
  f.add("separate-vocabs", &d.separate_vocabs, "train a separate vocabulary for each side instead of a joint one");
  f.add("max-tokens", &d.max_tokens, "maximum number of tokens in a batch: the longer sides of its pairs, added up")
      .at_least(1)
      .at_most(std::numeric_limits<std::int32_t>::max());
  f.add("max-length", &d.max_length,
        "maximum number of tokens in a sentence (longer pairs are left out); for a language model, the context length")
      .at_least(1)
      .at_most(1 << 20);
  f.add(
      "documents", &d.documents,
      "what a language model's text consists of: one text (whole), a document on each line, or documents between blank "
      "lines; no document is predicted from another",
      {{"whole", Documents::whole}, {"lines", Documents::lines}, {"blank_lines", Documents::blank_lines}});
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
        "whichever comes first",
        amounts_form())
      .letter('a')
      .value_name("AMOUNT")
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
        "decoder layer whose cross-attention learns the alignments: a number from 1, or last", layer_form())
      .value_name("N");
  f.add("guided-alignment-heads", &l.guided_alignment_heads,
        "number of heads of this layer, from the first, whose mean learns the alignments; 0: all")
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
        "weight of the load-balancing loss of mixture-of-experts models (router_aux_loss_coef); unset: the family's "
        "for a "
        "new model; 0: off")
      .at_least(0)
      .at_most(1000);
  f.add("teacher", &l.teacher, "directories of teacher models for distillation; the student uses their vocabulary")
      .value_name("DIR");
  f.add("distillation-temperature", &l.distillation_temperature,
        "temperature of the teacher's and the student's distributions")
      .at_least(0.01)
      .at_most(1000);
  f.add("distillation-mix", &l.distillation_mix, "weight of the teacher in the loss; the targets get the rest")
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
  f.add(
      "optimizer-bits", &l.optimizer_bits,
      "adam, adamw: bits of each value of the moments; 8: in large matrices, where embeddings, the output layer, norms "
      "and biases keep 32",
      {{"32", StateBits::full}, {"8", StateBits::eight}});
  f.add("beta1", &l.beta1, "decay of the gradient's moving average; not used by adafactor")
      .at_least(0)
      .at_most(0.999999);
  f.add("beta2", &l.beta2,
        "decay of the squared gradient's moving average (lion: of the gradient's; adafactor: its own)")
      .at_least(0)
      .at_most(0.999999);
  f.add("epsilon", &l.epsilon, "added to the square root of the squared gradient's average (adam, adamw, muon)")
      .above(0);
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
  f.add(
       "spike-guard", &l.spike_guard,
       "apply `nan_guard` also if the loss or gradient norm is N standard deviations above its running average; 0: off")
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
  f.add("medusa-heads", &t.medusa_heads,
        "train this number of Medusa heads on the frozen model: for `draft_heads` of other commands, where they "
        "propose as "
        "many tokens; the text should be like those that the model will write; 0: none")
      .at_least(0)
      .at_most(64);
  f.add("medusa-layers", &t.medusa_layers, "layers of each head").at_least(1).at_most(16);
  f.add("medusa-own-output", &t.medusa_own_output,
        "give each head an output matrix of its own, which is read at every step, instead of the model's");
  f.add("medusa-decay", &t.medusa_decay, "weight of a head's loss, relative to that of the head before")
      .above(0)
      .at_most(1);
  for (const char* name : {"train-only", "freeze", "lora-rank", "medusa-heads"})
    f.needs(name, "init-from", "without a model to start from, everything must be trained");
  for (const char* name : {"lora-alpha", "lora-dropout", "lora-targets"})
    f.needs(name, "lora-rank", "it has no effect without adapters");
  for (const char* name : {"medusa-layers", "medusa-own-output", "medusa-decay"})
    f.needs(name, "medusa-heads", "it has no effect without heads");
  for (const char* name : {"train-only", "freeze"}) f.excludes(name, "lora-rank", "only the adapters are trained");
  for (const char* name : {"train-only", "freeze", "lora-rank"})
    f.excludes(name, "medusa-heads", "only the heads are trained");
  for (const char* name : {"teacher", "r-drop", "guided-alignment", "router-aux-loss"})
    f.excludes(name, "medusa-heads", "heads have a loss of their own");
  for (const char* name : {"dropout", "embedding-dropout", "attention-dropout", "activation-dropout", "dropout-warmup",
                           "layer-drop", "gradient-checkpointing"})
    f.excludes(name, "medusa-heads", "the model is frozen, and runs as it will when it writes");
  for (const char* name : {"vocab", "vocab-size", "vocab-type", "separate-vocabs"})
    f.excludes("init-from", name, "the vocabulary comes from the model");
  for (const char* name : {"preset", "d-model", "num-heads", "ffn-dim", "enc-depth", "dec-depth", "activation",
                           "max-positions", "model-keys"})
    f.excludes("init-from", name, "the sizes come from the model");
  f.excludes("init-from", "depth-scaled-init", "the model is already initialised");
}

void validation_fields(Fields& f, ValidationOptions& v) {
  f.group("Validation");
  f.add("valid-freq", &v.valid_freq, "how often to validate: 500u, 1e, 10m", amounts_form()).value_name("AMOUNT");
  f.add("valid-metrics", &v.valid_metrics,
        "validation metrics: loss, perplexity, bleu, chrf; the first decides which model is best",
        {{"loss", Metric::loss}, {"perplexity", Metric::perplexity}, {"bleu", Metric::bleu}, {"chrf", Metric::chrf}})
      .value_name("NAMES");
  f.add("valid-beam", &v.valid_beam, "beam size for validation translations").at_least(1).at_most(1024);
  f.add("valid-samples", &v.valid_samples,
        "number of validation sentences whose translations the report shows; 0: none")
      .at_least(0)
      .at_most(100)
      .free_to_change();
  f.add("valid-attention", &v.valid_attention, "number of these sentences that are shown with attention maps")
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
  f.add("save-freq", &r.save_freq, "how often to save: 500u, 1e, 10m", amounts_form())
      .value_name("AMOUNT")
      .free_to_change();
  f.add("keep-checkpoints", &r.keep_checkpoints, "number of checkpoints to keep").at_least(1).free_to_change();
  f.add("disp-freq", &r.disp_freq, "how often to report: 50u, 1e, 1m", amounts_form())
      .value_name("AMOUNT")
      .free_to_change();
  f.add("seed", &r.seed, "seed of the initial weights, the data order and dropout");
  f.add("threads", &r.threads, "cores to use; 0: all").at_least(0).at_most(1024).free_to_change();
  add_placement_fields(f, r.placement);
  f.add("deterministic", &r.deterministic, "get the same weights with any number of threads (up to 4) and ranks");
  f.add("gradient-checkpointing", &m.gradient_checkpointing,
        "recompute activations in the backward pass: less memory, more time");
  f.add("precision", &r.precision, "precision of the computation",
        {{"fp32", nn::Precision::fp32}, {"bf16", nn::Precision::bf16}});
  f.add("reduce-precision", &r.reduce_precision, "precision of the gradients exchanged between ranks",
        {{"fp32", WirePrecision::fp32}, {"bf16", WirePrecision::bf16}});
  f.add("shard-weights", &r.shard_weights,
        "for models larger than one rank's memory: each rank keeps its share of weights and gradients, and layers are "
        "gathered when needed")
      .free_to_change();
  f.add("rank-timeout", &r.rank_timeout, "save and end the run if a rank does not respond for this many seconds")
      .at_least(1)
      .at_most(86'400)
      .free_to_change();
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
  for (const char* name : {"train-only", "freeze", "lora-rank", "medusa-heads"})
    f.excludes("shard-weights", name, "layers are freed after their gradients, so all of them must be trained");
  f.excludes("shard-weights", "deterministic",
             "then gradients are summed in a different order for each number of ranks");
  f.excludes("shard-weights", "teacher", "the teacher's layers would be confused with the student's");
  return f;
}

}  // namespace tril::train
