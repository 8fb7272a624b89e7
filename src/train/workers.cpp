#include "train/workers.h"

#include <algorithm>
#include <cmath>

#include "ops/experts.h"
#include "train/hidden_states.h"
#include "train/schedule.h"

namespace tril::train {
namespace {

// How many passes the part's size asks for.
int passes_of(const Batch& part, const model::Model& m, const WorkersOptions& options) {
  const std::int64_t tokens = std::max(part.source_tokens(), part.target_tokens()) * (options.loss.r_drop > 0 ? 2 : 1);
  const std::int64_t passes = (tokens * m.d_model() + options.pass_values - 1) / options.pass_values;
  return static_cast<int>(std::min(passes, part.sentences()));
}

// The batch and the batch once more behind it.
Batch doubled(const Batch& batch) {
  Batch both = batch;
  for (std::int64_t i = 0; i < batch.sentences(); ++i)
    both.append(batch.source_row(i), batch.target_row(i), batch.lines[static_cast<std::size_t>(i)]);
  both.alignments.insert(both.alignments.end(), batch.alignments.begin(), batch.alignments.end());
  return both;
}

}  // namespace

namespace {

// Of the targets alone.
Tensor target_loss(Context& c, const model::Model& m, const Batch& batch, const LossSettings& settings,
                   double normalizer, const Tensor& hidden) {
  const model::OutputProjection out = m.output();
  ops::LossOptions loss;
  loss.label_smoothing = static_cast<float>(settings.label_smoothing);
  loss.normalizer = normalizer;
  loss.softcap = out.softcap;
  if (!batch.weights.empty()) loss.weights = c.upload(batch.token_weights());
  const Tensor targets = c.upload(batch.target_ids);
  if (settings.teachers)
    return ops::projected_distillation(c, {hidden, out.weight, out.bias}, settings.teachers->predict(c, batch), targets,
                                       loss, settings.distillation);
  if (settings.r_drop > 0)
    return ops::r_drop(c, hidden, out.weight, out.bias, targets, loss, static_cast<float>(settings.r_drop));
  return ops::projected_cross_entropy(c, hidden, out.weight, out.bias, targets, loss);
}

}  // namespace

Tensor batch_loss(Context& c, const model::Model& m, const Batch& given, const LossSettings& settings,
                  double normalizer) {
  const bool twice = settings.r_drop > 0, guided = settings.guided && !given.alignments.empty();
  const Batch both = twice ? doubled(given) : Batch();
  const Batch& batch = twice ? both : given;
  nn::AttentionTap tap;
  if (guided) tap = model::tap_of(m, settings.guided->heads);
  nn::RouterTap routers;
  const bool balanced = settings.router_aux_loss > 0;
  const Tensor hidden = hidden_states(c, m, batch, guided ? &tap : nullptr, balanced ? &routers : nullptr);
  Tensor loss = target_loss(c, m, given, settings, normalizer, hidden);
  if (balanced) {  // it is a mean over tokens: this batch has its share of the update's
    const double share = static_cast<double>(given.target_tokens()) / normalizer;
    const Tensor balance = ops::load_balancing_loss(c, routers.logits, m.experts_per_token());
    loss = ops::add(c, loss, ops::scale(c, balance, static_cast<float>(settings.router_aux_loss * share)));
  }
  if (!guided) return loss;
  const double passes = twice ? 2 : 1;
  return ops::add(c, loss,
                  ops::alignment_loss(c, tap.weights, c.upload(batch.wanted_attention()), tap.spans,
                                      settings.guided->cost, normalizer * passes / settings.guided->weight));
}

double Evaluation::perplexity() const {
  return std::exp(cross_entropy);
}

struct Workers::Worker {
  explicit Worker(const kern::Kernels& kernels) : context(arena, kernels) {}
  Arena arena;
  Context context;
  Tape tape;
  Profile profile;
};

Workers::Workers(model::Model& model, Optimizer& optimizer, WorkersOptions options)
    : model_(model), optimizer_(optimizer), options_(options), team_(options.threads) {
  check(options.parts >= options.threads, "workers", "{} parts for {} threads", options.parts, options.threads);
  for (int i = 0; i < options.threads; ++i) {
    Worker& w = *workers_.emplace_back(std::make_unique<Worker>(*options.kernels));
    if (options.profile) w.context.set_profile(&w.profile);
  }
  for (int i = 0; i < options.parts; ++i) {
    gradients_.push_back(lasting_zeros(model.parameters().trained_window().count));
    grads_.push_back(std::make_unique<Grads>());
    model.parameters().bind_gradients(*grads_.back(), gradients_.back());
  }
  losses_.resize(static_cast<std::size_t>(options.parts));
  if (options.parts > 1) optimizer.measure_parts(static_cast<std::size_t>(options.parts));
  model.parameters().set_precision(options.precision);
  refresh();
}

Workers::~Workers() = default;

void Workers::refresh() {
  model_.parameters().refresh(*options_.kernels);
}

// Adds the gradient of one pass, and returns its loss.
double Workers::add_gradient(Worker& w, const Batch& pass, double normalizer, Grads& grads) {
  Context& c = w.context;
  w.tape.clear();
  c.set_tape(&w.tape);
  model_.parameters().watch(w.tape);
  const Tensor loss = batch_loss(c, model_, pass, options_.loss, normalizer);
  const double value = host_copy<float>(loss)[0];
  const Tensor one = c.empty({1});
  c.kernels().fill(1.0f, one.data<float>(), 1);
  w.tape.backward(c, loss, one, grads);
  c.set_tape(nullptr);
  return value;
}

// The gradients of this member's parts of every batch, summed over the batches.
void Workers::add_gradients(Worker& w, int member, std::span<const std::vector<Batch>> parts, double normalizer,
                            std::int64_t number) {
  Context& c = w.context;
  c.set_training(true);
  c.set_dropout_factor(static_cast<float>(dropout_factor(options_.dropout_warmup, number)));
  for (std::size_t part = static_cast<std::size_t>(member); part < grads_.size(); part += workers_.size()) {
    Grads& grads = *grads_[part];
    grads.restart();
    losses_[part] = 0;
    for (std::size_t b = 0; b < parts.size(); ++b) {
      const Batch& batch = parts[b][part];
      if (batch.sentences() == 0) continue;
      const RandomKey of_batch = sub_key(random_key(options_.seed, static_cast<std::uint64_t>(number)), b),
                      of_part = sub_key(of_batch, static_cast<std::uint64_t>(part));
      c.set_shared_key(sub_key(of_batch, ~std::uint64_t{0} - 1));  // the number of no part
      const int count = passes_of(batch, model_, options_);
      const std::vector<Batch> cut = count > 1 ? split(batch, count) : std::vector<Batch>();
      const std::span<const Batch> passes = count > 1 ? std::span(cut) : std::span(&batch, 1);
      for (std::size_t p = 0; p < passes.size(); ++p) {
        const RandomKey key = p == 0 ? of_part : sub_key(of_part, p);
        c.set_rng(Rng(std::uint64_t{key.b} << 32 | key.a));
        losses_[part] += add_gradient(w, passes[p], normalizer, grads);
      }
    }
    grads.finish(c);
  }
}

// What the parts' gradients and their sum say of the gradient's noise. A part's loss is divided by the whole update's
// tokens, so that its own gradient is its share times tokens / tokens of the part.
GradientNoise Workers::noise_of(std::span<const std::vector<Batch>> batches, const UpdateResult& result) const {
  std::vector<PartGradient> parts;
  for (std::size_t part = 0; part < grads_.size() && grads_.size() > 1; ++part) {
    double tokens = 0;
    for (const std::vector<Batch>& batch : batches) tokens += static_cast<double>(batch[part].target_tokens());
    if (tokens == 0) continue;
    const double own = static_cast<double>(result.tokens) / tokens;
    parts.push_back({optimizer_.squared_norm_of(part) * own * own, tokens});
  }
  return gradient_noise(parts, result.gradient_norm * result.gradient_norm, static_cast<double>(result.tokens));
}

UpdateResult Workers::update(std::span<const Batch> batches, std::int64_t number, double rate,
                             const UpdateLimits& limits) {
  UpdateResult result;
  std::vector<std::vector<Batch>> parts;
  for (const Batch& b : batches) {
    result.tokens += b.target_tokens();
    parts.push_back(split(b, options_.parts));
  }
  check(result.tokens > 0, "training", "an update without target tokens");

  const kern::Kernels& k = *options_.kernels;
  const int members = team_.size();
  team_.run([&](int member) {
    Worker& w = *workers_[static_cast<std::size_t>(member)];
    Context& c = w.context;
    const auto time = c.timed("update", "rest", [] { return Work(); });
    const auto wait = [&] {
      const auto waiting = c.timed("workers", "waiting", [] { return Work(); });
      team_.barrier();
    };
    try {
      add_gradients(w, member, parts, static_cast<double>(result.tokens), number);
    } catch (...) {
      w.tape.clear();  // let go of what the failed pass has kept
      c.set_tape(nullptr);
      throw;
    }
    wait();

    const Optimizer::Share mine{member, members};
    {
      const auto gathering = c.timed("gradients", "sum and norms", [&] { return gathering_work(); });
      optimizer_.gather(k, mine, gradients_);
    }
    wait();

    const double norm = optimizer_.norm();
    double loss = 0;
    for (double l : losses_) loss += l;
    const bool finite =
        std::isfinite(norm) && std::isfinite(loss) && norm <= limits.gradient_norm && loss <= limits.loss;
    if (member == 0) result.loss = loss, result.gradient_norm = norm, result.finite = finite;
    if (!finite) return;  // every member sees the same numbers
    {
      const auto stepping = c.timed("optimiser", "step", [&] { return stepping_work(); });
      optimizer_.step(k, mine, gradients_[0], {rate, clipping(norm, options_.clip_norm)});
    }
    wait();
    const auto packing = c.timed("weights", "packing", [&] { return packing_work(); });
    model_.parameters().refresh(k, member, members);
  });
  if (result.finite) optimizer_.finish_step();
  result.group_norms = optimizer_.group_norms();
  result.noise = noise_of(parts, result);
  return result;
}

Evaluation Workers::evaluate(std::span<const Batch> batches) {
  std::vector<double> sums(batches.size());
  team_.run([&](int member) {
    Context& c = workers_[static_cast<std::size_t>(member)]->context;
    c.set_training(false);
    for (std::size_t b = static_cast<std::size_t>(member); b < batches.size(); b += workers_.size()) {
      const double tokens = static_cast<double>(batches[b].target_tokens());
      sums[b] = host_copy<float>(batch_loss(c, model_, batches[b], {}, tokens))[0] * tokens;
    }
  });
  Evaluation e;
  for (std::size_t b = 0; b < batches.size(); ++b) e.cross_entropy += sums[b], e.tokens += batches[b].target_tokens();
  if (e.tokens > 0) e.cross_entropy /= static_cast<double>(e.tokens);
  return e;
}

// A worker's share of the passes that are theirs together.
Work Workers::gathering_work() const {
  const std::size_t parts = gradients_.size(), written = parts > 1 ? 1 : 0;
  return {.bytes = static_cast<double>((parts + written) * gradients_[0].bytes()) / team_.size()};
}

// The gradient is read, the weights and the rule's state are read and written.
Work Workers::stepping_work() const {
  double kept = static_cast<double>(gradients_[0].bytes());
  for (const NamedTensor& t : optimizer_.state()) kept += static_cast<double>(t.value.bytes());
  return {.bytes = (static_cast<double>(gradients_[0].bytes()) + 2 * kept) / team_.size()};
}

// Each copy is written, and the weights are read for each of them.
Work Workers::packing_work() const {
  double bytes = 0;
  for (const nn::Parameter& p : model_.parameters().all())
    for (const Tensor& copy : {p.transposed, p.packed, p.packed_transposed})
      if (copy) bytes += static_cast<double>(p.value.bytes() + copy.bytes());
  return {.bytes = bytes / team_.size()};
}

Profile Workers::profile() const {
  Profile all;
  for (const auto& w : workers_) all.merge(w->profile);
  return all;
}

void Workers::restart_profile() {
  for (const auto& w : workers_) w->profile.clear();
}

std::size_t Workers::arena_bytes() const {
  std::size_t bytes = 0;
  for (const auto& w : workers_) bytes += w->arena.stats().high_water;
  return bytes;
}

std::uint64_t Workers::arena_growths() const {
  std::uint64_t growths = 0;
  for (const auto& w : workers_) growths += w->arena.stats().growths;
  return growths;
}

}  // namespace tril::train
