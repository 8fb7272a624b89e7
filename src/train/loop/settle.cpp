#include "train/loop/settle.h"

#include <string>
#include <utility>
#include <vector>

#include "base/number_text.h"
#include "base/printable.h"
#include "base/utf8.h"
#include "nn/attention_heads.h"
#include "train/families/new_family.h"
#include "train/loop/build_model.h"

namespace tril::train {
namespace {

// Options that only translation has: corpora of pairs.
void settle_pairs(const DataOptions& d) {
  const std::size_t files = d.tsv ? 1 : 2, corpora = corpus_count(d);
  const auto what = d.tsv ? "tab-separated files" : "a source and a target file for each corpus (or `tsv`)";
  check(corpora > 0 && d.train_sets.size() % files == 0, "train_sets", "expected {}, got {}", what,
        counted(d.train_sets.size(), "file"));
  check(d.valid_sets.size() % files == 0, "valid_sets", "expected {}, got {}", what,
        counted(d.valid_sets.size(), "file"));
  check(d.max_tokens >= 2, "max_tokens",
        "{} is too small: a sentence has at least 2 tokens, one text token and the end token", d.max_tokens);
  check(!d.guided_alignment.learn || d.guided_alignment_units == AlignmentUnits::words, "guided_alignment_units",
        "learned alignments are alignments of words");
  for (const auto& [name, count] : {std::pair{"data_weighting", d.data_weighting.size()},
                                    {"guided_alignment", d.guided_alignment.files.size()},
                                    {"language_tags", d.language_tags.size()},
                                    {"corpus_weights", d.corpus_weights.size()}})
    check(count == 0 || count == corpora, name, "expected one for each of {} corpora, got {}", corpora, count);
  check(d.language_tags.empty() || d.valid_sets.empty() || d.valid_sets.size() == d.train_sets.size(), "valid_sets",
        "expected one set for each of {} corpora, with the same tags, got {}", corpora, d.valid_sets.size() / files);
  check(d.bpe_dropout_sides == Sides::both || d.bpe_dropout > 0 || d.subword_alpha > 0, "bpe_dropout_sides",
        "has no effect without `bpe_dropout` or `subword_alpha`");
  check(d.documents == Documents::whole, "documents", "is for language models, whose text may be a list of documents");
  check((d.vocab_type != SubwordKind::character && d.vocab_type != SubwordKind::byte_bpe) || !d.vocab.empty(),
        "vocab_type", "char and byte_bpe are for language models; use bpe or unigram for translation");
}

// Refuses what a language model does not use; its context is its positions.
void settle_language_model(TrainOptions& o) {
  DataOptions& d = o.data;
  ModelOptions& m = o.model;
  const std::string arch = "a " + m.arch + " model";
  check(d.train_sets.size() == 1 && !d.tsv, "train_sets", "{} learns from one text, got {}", arch,
        d.tsv ? "`tsv`" : counted(d.train_sets.size(), "file"));
  check(d.valid_sets.size() <= 1, "valid_sets", "{} is validated on one text, got {} files", arch, d.valid_sets.size());
  check(d.vocab_type == SubwordKind::character || d.vocab_type == SubwordKind::byte_bpe || !d.vocab.empty() ||
            !o.tune.init_from.empty(),
        "vocab_type", "{} learns byte_bpe or char; for another type, learn it with `tril vocab` and pass `vocab`",
        arch);
  check(!d.separate_vocabs, "separate_vocabs", "{} has one side", arch);
  for (const auto& [name, empty] : {std::pair{"data_weighting", d.data_weighting.empty()},
                                    {"guided_alignment", d.guided_alignment.none()},
                                    {"language_tags", d.language_tags.empty()},
                                    {"corpus_weights", d.corpus_weights.empty()}})
    check(empty, name, "is for pairs; {} learns from one text", arch);
  check(d.bpe_dropout == 0 && d.subword_alpha == 0, d.bpe_dropout > 0 ? "bpe_dropout" : "subword_alpha",
        "{} does not support it", arch);
  check(d.max_tokens >= d.max_length, "max_tokens", "a batch of {} tokens cannot hold a block of `max_length` {}",
        d.max_tokens, d.max_length);
  check(m.max_positions == ModelOptions{}.max_positions || m.max_positions == d.max_length, "max_positions",
        "{} differs from `max_length` {}, the context length of {}", m.max_positions, d.max_length, arch);
  m.max_positions = d.max_length;
  for (Metric metric : o.validation.valid_metrics)
    check(metric == Metric::loss || metric == Metric::perplexity, "valid_metrics",
          "BLEU and chrF are for translations; {} has loss and perplexity", arch);
}

// Refuses what a new model of this family does not have.
void settle_family(const TrainOptions& o) {
  const ModelOptions& m = o.model;
  const NewFamily& family = new_family(m.arch);
  const NewFamily::Dropouts& drops = family.dropouts;
  const std::string arch = "a " + m.arch + " model";
  check(m.dropout == 0 || drops.layers, "dropout", "{} has no dropout of sublayers", arch);
  check(!m.embedding_dropout || drops.embedding, "embedding_dropout", "{} has no embedding dropout of its own", arch);
  check(m.attention_dropout == 0 || drops.attention, "attention_dropout", "{} has no attention dropout", arch);
  check(m.activation_dropout == 0 || drops.activation, "activation_dropout", "{} has no activation dropout", arch);
  check(m.layer_drop == 0 || family.layer_drop, "layer_drop", "{} does not support it", arch);
  check(!m.depth_scaled_init || family.depth_scaled_init, "depth_scaled_init",
        "is for the post-norm models of Marian's and BART's kind, but `arch` is {}", m.arch);
  check(o.learning.router_aux_loss == 0 || family.experts, "router_aux_loss", "{} has no such routers", arch);
  check(!o.data.separate_vocabs || family.two_vocabularies, "separate_vocabs", "{} has one vocabulary for both sides",
        arch);
}

}  // namespace

void settle(TrainOptions& o) {
  const ModelOptions& m = o.model;
  check(m.d_model % m.num_heads == 0 || !o.tune.init_from.empty(), "num_heads", "{} heads do not divide `d_model` {}",
        m.num_heads, m.d_model);
  if (is_language_model(m)) settle_language_model(o);
  if (o.tune.init_from.empty()) settle_family(o);
  check((is_language_model(m) && !is_linear(m)) || m.d_model % 2 == 0, "d_model",
        "{} is odd, sinusoidal positions need pairs", m.d_model);

  const DataOptions& d = o.data;
  if (!is_language_model(m)) settle_pairs(d);
  check(d.max_length <= m.max_positions, "max_length", "{} tokens are more than the model's `max_positions` {}",
        d.max_length, m.max_positions);

  const ValidationOptions& v = o.validation;
  if (d.valid_sets.empty()) {
    check(v.valid_metrics.empty(), "valid_metrics", "has no effect without `valid_sets`");
    check(v.early_stopping == 0, "early_stopping", "has no effect without `valid_sets`");
    check(o.learning.average_checkpoints == 1, "average_checkpoints", "has no effect without `valid_sets`");
  }

  check(
      !o.run.deterministic || o.run.reduce_precision == WirePrecision::fp32, "reduce_precision",
      "bf16 rounds each rank's gradients, so the result depends on the number of ranks, but `deterministic` was given");

  if (o.run.shard_weights) {
    for (Metric metric : v.valid_metrics)
      check(metric == Metric::loss || metric == Metric::perplexity, "valid_metrics",
            "BLEU and chrF need a process that has all weights, but `shard_weights` was given");
    o.validation.valid_samples = 0;
  }

  if (o.tune.medusa_heads > 0) {
    for (Metric metric : v.valid_metrics)
      check(
          metric == Metric::loss || metric == Metric::perplexity, "valid_metrics",
          "BLEU and chrF are those of the model, which `medusa_heads` leaves as it is; heads have loss and perplexity");
    o.validation.valid_samples = 0;
  }

  LearningOptions& l = o.learning;
  check(
      l.optimizer_bits == StateBits::full || l.optimizer == OptimizerKind::adam || l.optimizer == OptimizerKind::adamw,
      "optimizer_bits", "8 bits are for the moments of adam and adamw; leave it out, or choose one of them");
  const bool drops = m.dropout > 0 || m.embedding_dropout.value_or(0) > 0 || m.attention_dropout > 0 ||
                     m.activation_dropout > 0 || o.tune.lora_dropout > 0;
  check(l.r_drop == 0 || drops, "r_drop", "has no effect without dropout: both passes are the same");
  check(m.dropout_warmup == 0 || drops, "dropout_warmup", "has no effect without dropout");
  check(l.teacher.empty() || !is_language_model(m), "teacher",
        "is for encoder-decoders, but `arch` {} is a language model", m.arch);
  check(m.layer_drop == 0 || !is_language_model(m), "layer_drop",
        "is for encoder-decoders, but `arch` {} is a language model", m.arch);
  check(l.router_aux_loss == 0 || !m.gradient_checkpointing, "router_aux_loss",
        "the routers of recomputed layers are not recorded: pass 0, or leave `gradient_checkpointing` out");
  if (!l.teacher.empty() && o.data.vocab.empty()) o.data.vocab = l.teacher[0];
  if (!o.data.guided_alignment.none()) guided_heads(l, m);
  check(l.ema == 0 || l.average_checkpoints == 1, "average_checkpoints",
        "cannot be combined with `ema`: only one average of the weights is saved");
  const bool needs_end = has_end(l.lr_schedule);
  if (needs_end && l.lr_decay_updates == 0) {
    for (const Amount& a : l.after)
      if (a.unit == Unit::updates) l.lr_decay_updates = static_cast<std::int64_t>(a.value);
    if (l.lr_decay_updates == 0)
      fail_usage("lr_schedule", "a linear or cosine schedule needs a last update, and none is given",
                 "pass `lr_decay_updates` N, or `after` with updates (8000u)");
  }
  check(l.lr_decay_updates == 0 || needs_end, "lr_decay_updates",
        "has no effect: only a linear or cosine schedule has an end");
  check(l.lr_min == 0 || needs_end, "lr_min", "has no effect: only a linear or cosine schedule has an end");
  check(l.lr_min <= l.learn_rate, "lr_min", "{} is above the peak of {}", l.lr_min, l.learn_rate);
  check(!needs_end || l.lr_decay_updates > l.warmup, "lr_decay_updates", "{} updates end before the warm-up of {}",
        l.lr_decay_updates, l.warmup);

  if (!m.model_keys.empty() && o.tune.init_from.empty()) check_model_options(m, d.vocab_size, d.separate_vocabs);

  worker_placement(o.run, Numa::none);  // reports mistakes
  check(!o.run.deterministic || o.run.threads <= deterministic_parts, "threads",
        "`deterministic` splits each batch into {} parts, too few for {} threads", deterministic_parts, o.run.threads);
  for (const Field& field : fields_of(o))  // the log and the checkpoints hold all of them as JSON
    for (const std::string& text : field.texts())
      check(is_utf8(text), field.name(), "expected UTF-8, got \"{}\"", printable(text));
}

void refuse_useless(const Fields& fields, const TrainOptions& o) {
  const std::string arch = "`arch` " + o.model.arch;
  std::vector<std::pair<std::string, std::string>> useless;
  if (o.tune.init_from.empty()) {
    const NewFamily& family = new_family(o.model.arch);
    if (family.activation.empty()) useless.emplace_back("activation", arch + " has only its own");
    if (!family.chooses_ffn_dim) useless.emplace_back("ffn-dim", arch + " has feed-forwards of 4 `d_model`");
  }
  const std::vector<std::pair<std::string, std::string>> useless_for_texts{
      {"enc-depth", arch + " has no encoder; `dec_depth` sets its number of layers"},
      {"bpe-dropout-sides", arch + " has one side"},
      {"corpus-temperature", "is for several corpora, but " + arch + " learns from one text"},
      {"max-length-crop", arch + " splits its text into blocks, so nothing is left out or truncated"},
      {"skip-invalid", arch + " learns from a whole text, which must be UTF-8"},
      {"valid-beam", "is for translations, but " + arch + " is measured by its loss"},
      {"valid-samples", "is for translations, but " + arch + " is measured by its loss"},
      {"valid-attention", "is for translations, but " + arch + " is measured by its loss"},
  };
  if (is_language_model(o.model)) {
    useless.insert(useless.end(), useless_for_texts.begin(), useless_for_texts.end());
    if (o.data.vocab_type == SubwordKind::character)
      useless.emplace_back("vocab-size",
                           "the vocabulary is the characters of the text; `vocab_type` byte_bpe learns another one");
  }
  for (const auto& [name, why] : useless)
    if (const Field* field = fields.find(name); field && field->given()) fail_usage(field->given_at(), why);
}

}  // namespace tril::train
