#include "train/distributed/workers.h"

#include <cmath>

#include "base/as_size.h"
#include "base/clock.h"
#include "train/optim/sum_order.h"

namespace tril::train {
namespace {

// The noise estimate from the gradients of an update's parts, batches or ranks, and from their sum. Each loss is
// divided by the whole update's tokens, so a part's own mean gradient is its gradient times tokens / its tokens.
GradientNoise noise_of(std::span<const PartGradient> known, const UpdateResult& result) {
  std::vector<PartGradient> parts;
  for (const PartGradient& p : known) {
    if (p.tokens == 0) continue;
    const double own = static_cast<double>(result.tokens) / p.tokens;
    parts.push_back({p.squared_norm * own * own, p.tokens});
  }
  return gradient_noise(parts, result.gradient_norm * result.gradient_norm, static_cast<double>(result.tokens));
}

bool is_within(const UpdateLimits& limits, const UpdateResult& r) {
  return std::isfinite(r.gradient_norm) && std::isfinite(r.loss) && r.gradient_norm <= limits.gradient_norm &&
         r.loss <= limits.loss;
}

}  // namespace

double Evaluation::perplexity() const {
  return std::exp(cross_entropy);
}

Workers::Workers(model::Model& model, Optimizer& optimizer, WorkersOptions options)
    : model_(model), optimizer_(optimizer), options_(std::move(options)), passes_(model, options_) {
  model.parameters().set_precision(options_.precision);
  reducer_ = make_gradient_reducer(model, optimizer, passes_, options_);
  refresh();
}

// The whole update, with this rank's batches split into parts.
Update Workers::update_of(std::span<const Batch> batches, std::int64_t number) const {
  const Branch own = share_of(batches.size(), as_size(options_.ranks->rank()), as_size(options_.ranks->size()));
  Update update{.number = number, .batches = batches.size(), .own = {own.first, {}}};
  for (const Batch& b : batches) update.target_tokens += b.target_tokens();
  check(update.target_tokens > 0, "training", "an update has no target tokens");
  for (const Batch& b : batches.subspan(own.first, own.size())) update.own.parts.push_back(split(b, options_.parts));
  return update;
}

RankReport Workers::report_of(const GradientReducer& reducer, const Update& update) const {
  return {.losses = passes_.losses(),
          .part_gradients = reducer.part_gradients(update),
          .squares = optimizer_.own_squares()};
}

// Reduces the gradients. Then the first worker calls `agree`; if the result is still finite, all step by the sum.
void Workers::step(GradientReducer& reducer, UpdateResult& result, double rate, const std::function<void()>& agree) {
  Team& team = passes_.team();
  team.run([&](int member) {
    Context& c = passes_.context(member);
    const auto time = c.timed("update", "rest", [] { return Work(); });
    // Runs communication on the first member, after all members have done their part. The others wait for it.
    const auto among_ranks = [&](const auto& work) {
      const auto waiting = c.timed(member == 0 ? "ranks" : "workers", "waiting", [] { return Work(); });
      team.barrier();
      const double start = seconds_now();
      if (member == 0) work(), result.waited += seconds_now() - start;
      team.barrier();
    };
    const Optimizer::Share mine{member, team.size()};
    among_ranks([&] { reducer.receive(); });
    {
      const auto gathering = c.timed("gradients", "sum and norms", [&] { return gathering_work(); });
      reducer.gather(mine);
    }
    among_ranks(agree);
    if (!result.finite) return;
    {
      const auto stepping = c.timed("optimiser", "step", [&] { return stepping_work(); });
      optimizer_.step(*options_.kernels, mine, reducer.sum(),
                      {rate, clipping(result.gradient_norm, options_.clip_norm)});
    }
    among_ranks([&] { reducer.share_weights(); });
    reducer.refresh(member);
  });
}

UpdateResult Workers::update(std::span<const Batch> batches, std::int64_t number, double rate,
                             const UpdateLimits& limits) {
  const double start = seconds_now();
  const Update update = update_of(batches, number);
  UpdateResult result{.tokens = update.target_tokens};
  const bool alone = options_.ranks->size() == 1;
  passes_.begin(update, /*may_break_off=*/options_.stop && alone && batches.size() > 1);
  GradientReducer& reducer = reducer_->for_update(batches.size());
  reducer.compute(update);
  // Time spent waiting within passes does not count as this rank's own.
  result.waited = reducer.take_waited();
  const double seconds = seconds_now() - start - result.waited;

  std::vector<PartGradient> part_gradients;  // of all ranks
  step(reducer, result, rate, [&] {
    RankReport mine = report_of(reducer, update);
    mine.seconds = seconds;
    const std::vector<RankReport> reports =
        alone ? std::vector{mine} : exchange_reports(*options_.ranks, batches, mine);
    for (std::size_t rank = 0; rank < reports.size(); ++rank) {
      const RankReport& r = reports[rank];
      for (double loss : r.losses) result.loss += loss;
      part_gradients.insert(part_gradients.end(), r.part_gradients.begin(), r.part_gradients.end());
      if (alone) continue;
      result.rank_seconds.push_back(r.seconds);
      optimizer_.set_squares_of(static_cast<int>(rank), r.squares);
    }
    result.gradient_norm = optimizer_.norm();
    result.broken_off = passes_.broken_off();
    result.finite = !result.broken_off && is_within(limits, result);
    if (result.finite && options_.before_step) options_.before_step();
  });
  result.waited += reducer.take_waited();

  if (result.finite) optimizer_.finish_step();
  result.group_norms = optimizer_.group_norms();
  result.noise = noise_of(part_gradients, result);
  return result;
}

Evaluation Workers::evaluate(std::span<const Batch> batches, const std::function<bool()>& stop) {
  std::vector<double> sums(batches.size());
  dist::Ranks& ranks = *options_.ranks;
  const auto members = as_size(threads());
  std::vector<std::size_t> own;  // every n-th batch belongs to this rank
  for (auto b = as_size(ranks.rank()); b < batches.size(); b += as_size(ranks.size())) own.push_back(b);
  const auto add = [&](int member, std::size_t pass) {
    const std::size_t next = pass * members + as_size(member);
    if (next >= own.size()) return;
    Context& c = passes_.context(member);
    c.set_training(false);
    const Batch& batch = batches[own[next]];
    const double tokens = static_cast<double>(batch.target_tokens());
    sums[own[next]] =
        host_copy<float>(batch_loss(c, model_, batch, {.heads = options_.loss.heads}, tokens))[0] * tokens;
  };
  reducer_->run_forward((own.size() + members - 1) / members, add, stop);
  ranks.all_reduce(sums);  // each value is set by one rank, and zero in the others
  Evaluation e;
  for (std::size_t b = 0; b < batches.size(); ++b) e.cross_entropy += sums[b], e.tokens += batches[b].target_tokens();
  if (e.tokens > 0) e.cross_entropy /= static_cast<double>(e.tokens);
  return e;
}

// A worker's share of a sum.
Work Workers::gathering_work() const {
  const std::size_t parts = passes_.parts(), written = parts > 1 ? 1 : 0;
  return {.bytes = static_cast<double>((parts + written) * passes_.gradients()[0].bytes()) / threads()};
}

// Reads the gradient; reads and writes the weights and the rule's state.
Work Workers::stepping_work() const {
  const auto gradient = static_cast<double>(passes_.gradients()[0].bytes());
  double kept = gradient;
  for (const NamedTensor& t : optimizer_.state())
    if (t.name != optimizer_.weights().name) kept += static_cast<double>(t.value.bytes());
  return {.bytes = (gradient + 2 * kept) / threads()};
}

}  // namespace tril::train
