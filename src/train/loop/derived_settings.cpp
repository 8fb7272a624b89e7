#include "train/loop/derived_settings.h"

namespace tril::train {

OptimizerOptions optimizer_options(const LearningOptions& l) {
  OptimizerOptions o;
  o.kind = l.optimizer;
  o.bits = l.optimizer_bits;
  o.beta1 = l.beta1, o.beta2 = l.beta2, o.epsilon = l.epsilon, o.weight_decay = l.weight_decay;
  o.decay_matrices_only = l.decay_matrices_only;
  o.momentum = l.momentum;
  o.ema = l.ema;
  o.gradient_noise = l.gradient_noise;
  return o;
}

WorkersOptions workers_options(const TrainOptions& o, const model::Model& m) {
  WorkersOptions w;
  w.threads = worker_threads(o.run);
  w.placement = worker_placement(o.run, o.run.placement.numa);
  w.parts = batch_parts(o.run);
  const LearningOptions& l = o.learning;
  w.loss.label_smoothing = l.label_smoothing;
  w.loss.r_drop = l.r_drop;
  w.loss.r_drop_start = l.r_drop_start;
  w.loss.router_aux_loss = l.router_aux_loss;
  w.loss.distillation = {static_cast<float>(l.distillation_temperature), static_cast<float>(l.distillation_mix)};
  if (!o.data.guided_alignment.none())
    w.loss.guided = GuidedAlignment{guided_heads(l, o.model), l.guided_alignment_cost, l.guided_alignment_weight};
  if (o.tune.medusa_heads > 0)
    w.loss.heads = TrainedHeads{nn::MedusaHeads::find(m.parameters()).value(), o.tune.medusa_decay};
  w.dropout_warmup = o.model.dropout_warmup;
  w.clip_norm = o.learning.clip_norm;
  w.fixed_order = o.run.deterministic;
  w.shard_weights = o.run.shard_weights;
  w.wire = o.run.reduce_precision;
  w.precision = o.run.precision;
  w.seed = o.run.seed;
  return w;
}

Schedule schedule_of(const LearningOptions& l) {
  return {l.lr_schedule, l.learn_rate, l.warmup, l.lr_decay_updates, l.lr_min};
}

}  // namespace tril::train
