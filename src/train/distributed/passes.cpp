#include "train/distributed/passes.h"

#include <algorithm>

#include "base/as_size.h"
#include "tensor/lasting.h"
#include "train/optim/schedule.h"

namespace tril::train {
namespace {

// The number of passes for a part of this size.
int count_passes(const Batch& part, const model::Model& m, const LossSettings& loss, std::int64_t pass_values) {
  const std::int64_t tokens = std::max(part.source_tokens(), part.target_tokens()) * (loss.r_drop > 0 ? 2 : 1);
  const std::int64_t passes = (tokens * m.d_model() + pass_values - 1) / pass_values;
  return static_cast<int>(std::min(passes, part.sentences()));
}

}  // namespace

std::int64_t BatchParts::target_tokens() const {
  std::int64_t tokens = 0;
  for (const std::vector<Batch>& batch : parts)
    for (const Batch& part : batch) tokens += part.target_tokens();
  return tokens;
}

std::int64_t BatchParts::target_tokens_of(std::size_t part) const {
  std::int64_t tokens = 0;
  for (const std::vector<Batch>& batch : parts) tokens += batch[part].target_tokens();
  return tokens;
}

Passes::Passes(model::Model& model, const WorkersOptions& options)
    : model_(model), options_(options), team_(options.threads, options.placement) {
  for (int i = 0; i < options_.threads; ++i) {
    Worker& w = *workers_.emplace_back(std::make_unique<Worker>(*options_.kernels));
    if (options_.profile) w.context.set_profile(&w.profile);
  }
  const nn::Parameters& weights = model.parameters();
  for (int i = 0; i < options_.parts; ++i) {
    gradients_.push_back(lasting_zeros(weights.trained_window().count));
    grads_.push_back(std::make_unique<Grads>());
    weights.bind_gradients(*grads_.back(), gradients_.back());
  }
}

void Passes::begin(const Update& update, bool may_break_off) {
  number_ = update.number;
  target_tokens_ = static_cast<double>(update.target_tokens);
  first_batch_ = update.own.first;
  loss_ = options_.loss.of_update(number_);
  losses_.assign(update.own.parts.size() * parts(), 0.0);
  may_break_off_ = may_break_off;
  broken_off_ = false;
}

// The passes of one part, over all batches.
std::vector<Pass> Passes::passes_of(const BatchParts& batches, std::size_t part) const {
  std::vector<Pass> passes;
  for (std::size_t b = 0; b < batches.parts.size(); ++b) {
    const Batch& batch = batches.parts[b][part];
    if (batch.sentences() == 0) continue;
    const std::size_t number = batches.first + b;
    const RandomKey of_batch = sub_key(random_key(options_.seed, static_cast<std::uint64_t>(number_)), number),
                    of_part = sub_key(of_batch, static_cast<std::uint64_t>(part)),
                    shared = sub_key(of_batch, ~std::uint64_t{0} - 1);  // a number that no part has
    const int count = count_passes(batch, model_, loss_, options_.pass_values);
    std::vector<Batch> cut = count > 1 ? split(batch, count) : std::vector{batch};
    for (std::size_t p = 0; p < cut.size(); ++p)
      passes.push_back({std::move(cut[p]), p == 0 ? of_part : sub_key(of_part, p), shared, part,
                        (number - first_batch_) * parts() + part});
  }
  return passes;
}

void Passes::add(int member, const Pass& pass) {
  Worker& w = *workers_[as_size(member)];
  Context& c = w.context;
  c.set_shared_key(pass.shared_key);
  c.set_rng(Rng(std::uint64_t{pass.key.b} << 32 | pass.key.a));
  w.tape.clear();
  c.set_tape(&w.tape);
  model_.parameters().watch(w.tape);
  const Tensor loss = batch_loss(c, model_, pass.batch, loss_, target_tokens_);
  losses_[pass.loss] += host_copy<float>(loss)[0];
  Tensor one = c.empty({1});
  c.kernels().fill(1.0f, one.data<float>(), 1);
  w.tape.backward(c, loss, one, *grads_[pass.part]);
  c.set_tape(nullptr);
}

bool Passes::ask_to_break_off() {
  if (may_break_off_ && !broken_off_ && options_.stop()) broken_off_ = true;
  return broken_off_;
}

void Passes::compute_part(int member, std::span<const Pass> passes, std::size_t part,
                          const std::function<void(std::uint64_t)>& complete) {
  Grads& grads = *grads_[part];
  grads.restart();
  for (std::size_t p = 0; p < passes.size() && !ask_to_break_off(); ++p) {
    if (complete && p + 1 == passes.size()) grads.announce(complete);
    add(member, passes[p]);
  }
  grads.finish(context(member));
  if (complete && passes.empty())
    for (const nn::Parameter& p : model_.parameters().all())
      if (p.trainable) complete(p.value.id());
}

void Passes::compute(const BatchParts& batches, const std::function<void(std::uint64_t)>& complete) {
  run([&](int member) {
    for (auto part = as_size(member); part < parts(); part += workers_.size())
      compute_part(member, passes_of(batches, part), part, complete);
  });
}

void Passes::run(const std::function<void(int member)>& work) {
  const PinnedThread caller(options_.placement, 0);
  team_.run([&](int member) {
    Worker& w = *workers_[as_size(member)];
    const MemoryPlaced memory(options_.placement.numa, MemoryOf::one_thread);
    const auto time = w.context.timed("update", "rest", [] { return Work(); });
    w.context.set_training(true);
    w.context.set_dropout_factor(static_cast<float>(dropout_factor(options_.dropout_warmup, number_)));
    try {
      work(member);
    } catch (...) {
      w.tape.clear();  // frees what the failed pass has saved
      w.context.set_tape(nullptr);
      throw;
    }
    const auto waiting = w.context.timed("workers", "waiting", [] { return Work(); });
    team_.barrier();
  });
}

Profile Passes::profile() const {
  Profile all;
  for (const auto& w : workers_) all.merge(w->profile);
  return all;
}

void Passes::restart_profile() {
  for (const auto& w : workers_) w->profile.clear();
}

std::size_t Passes::arena_bytes() const {
  std::size_t bytes = 0;
  for (const auto& w : workers_) bytes += w->arena.stats().high_water;
  return bytes;
}

std::uint64_t Passes::arena_growths() const {
  std::uint64_t growths = 0;
  for (const auto& w : workers_) growths += w->arena.stats().growths;
  return growths;
}

}  // namespace tril::train
