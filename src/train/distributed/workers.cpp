#include "train/distributed/workers.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/clock.h"
#include "base/hash.h"
#include "train/optim/schedule.h"

namespace tril::train {
namespace {

// How many passes the part's size asks for.
int count_passes(const Batch& part, const model::Model& m, const LossSettings& loss, std::int64_t pass_values) {
  const std::int64_t tokens = std::max(part.source_tokens(), part.target_tokens()) * (loss.r_drop > 0 ? 2 : 1);
  const std::int64_t passes = (tokens * m.d_model() + pass_values - 1) / pass_values;
  return static_cast<int>(std::min(passes, part.sentences()));
}

}  // namespace

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
    : model_(model), optimizer_(optimizer), options_(std::move(options)), team_(options_.threads) {
  check(options_.parts >= options_.threads, "workers", "{} parts for {} threads", options_.parts, options_.threads);
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
  model.parameters().set_precision(options_.precision);
  if (options_.shard_weights && options_.ranks->size() > 1) {
    check(!options_.fixed_order, "sharded weights", "are added up in another order for each number of ranks");
    check(options_.parts == options_.threads, "sharded weights", "{} parts for {} threads", options_.parts,
          options_.threads);
    sharding_ = std::make_unique<Sharding>(options_.ranks, optimizer.division(), model, *options_.kernels,
                                           options_.wire, team_, gradients_);
    for (int i = 0; i < options_.threads; ++i)
      workers_[static_cast<std::size_t>(i)]->context.set_weight_keeper(&sharding_->keeper(i));
  } else if (options_.ranks->size() > 1 || options_.fixed_order) {
    prepare_exchange();
  }
  if (options_.ranks->size() == 1 && options_.parts > 1)
    optimizer.measure_parts(static_cast<std::size_t>(options_.parts));
  refresh();
}

void Workers::prepare_exchange() {
  const Division& division = optimizer_.division();
  exchange_ = std::make_unique<Exchange>(options_.ranks, division, *options_.kernels, options_.wire);
  outstanding_ = std::vector<std::atomic<int>>(division.buckets().size());
  for (const TrainedWeight& w : trained_weights(model_.parameters())) {
    const std::size_t begin = w.begin - division.window_begin(), end = begin + w.count;
    const auto holds = [&](std::size_t value) {
      const auto behind = std::upper_bound(division.buckets().begin(), division.buckets().end(), value,
                                           [](std::size_t v, const Interval& i) { return v < i.begin; });
      return static_cast<std::size_t>(behind - division.buckets().begin()) - 1;
    };
    buckets_of_[w.parameter->value.id()] = {holds(begin), holds(end - 1) + 1};
  }
}

Workers::~Workers() = default;

void Workers::refresh() {
  if (sharding_)
    team_.run([&](int member) { sharding_->refresh(member); });
  else
    model_.parameters().refresh(*options_.kernels);
}

// A part of every batch, a large one in several passes.
std::vector<Workers::Pass> Workers::passes_of(const Share& share, std::size_t part, const LossSettings& loss) const {
  std::vector<Pass> passes;
  for (std::size_t b = 0; b < share.parts.size(); ++b) {
    const Batch& batch = share.parts[b][part];
    if (batch.sentences() == 0) continue;
    const RandomKey of_batch =
                        sub_key(random_key(options_.seed, static_cast<std::uint64_t>(share.number)), share.first + b),
                    of_part = sub_key(of_batch, static_cast<std::uint64_t>(part)),
                    shared = sub_key(of_batch, ~std::uint64_t{0} - 1);  // the number of no part
    const std::size_t at = (share.first - first_batch_ + b) * grads_.size() + part;
    const int count = count_passes(batch, model_, loss, options_.pass_values);
    std::vector<Batch> cut = count > 1 ? split(batch, count) : std::vector{batch};
    for (std::size_t p = 0; p < cut.size(); ++p)
      passes.push_back({std::move(cut[p]), p == 0 ? of_part : sub_key(of_part, p), shared, at});
  }
  return passes;
}

// Adds the gradient of one pass, and its loss.
void Workers::add_gradient(Worker& w, const Pass& pass, const LossSettings& settings, double normalizer, Grads& grads) {
  Context& c = w.context;
  c.set_shared_key(pass.shared_key);
  c.set_rng(Rng(std::uint64_t{pass.key.b} << 32 | pass.key.a));
  w.tape.clear();
  c.set_tape(&w.tape);
  model_.parameters().watch(w.tape);
  const Tensor loss = batch_loss(c, model_, pass.batch, settings, normalizer);
  losses_[pass.loss] += host_copy<float>(loss)[0];
  const Tensor one = c.empty({1});
  c.kernels().fill(1.0f, one.data<float>(), 1);
  w.tape.backward(c, loss, one, grads);
  c.set_tape(nullptr);
}

// Whether what is left of the update's passes is not to be made.
bool Workers::breaks_off() {
  if (may_break_off_ && !broken_off_ && options_.stop()) broken_off_ = true;
  return broken_off_;
}

// The gradients of this member's parts of every batch, summed over the batches.
// @param announces  says of each parameter when the gradient of a part is complete
void Workers::add_gradients(Worker& w, int member, const Share& share, bool announces) {
  Context& c = w.context;
  const LossSettings loss = options_.loss.of_update(share.number);
  for (std::size_t part = static_cast<std::size_t>(member); part < grads_.size(); part += workers_.size()) {
    Grads& grads = *grads_[part];
    grads.restart();
    const std::vector<Pass> passes = passes_of(share, part, loss);
    for (std::size_t p = 0; p < passes.size() && !breaks_off(); ++p) {
      if (announces && p + 1 == passes.size()) grads.announce([this](std::uint64_t parameter) { complete(parameter); });
      add_gradient(w, passes[p], loss, share.normalizer, grads);
    }
    grads.finish(c);
    if (announces && passes.empty())
      for (const auto& [parameter, buckets] : buckets_of_) complete(parameter);
  }
}

// What every member does of update `number` up to its gradient.
void Workers::run_members(std::int64_t number, const std::function<void(Worker& w, int member)>& work) {
  team_.run([&](int member) {
    Worker& w = *workers_[static_cast<std::size_t>(member)];
    const auto time = w.context.timed("update", "rest", [] { return Work(); });
    w.context.set_training(true);
    w.context.set_dropout_factor(static_cast<float>(dropout_factor(options_.dropout_warmup, number)));
    try {
      work(w, member);
    } catch (...) {
      w.tape.clear();  // let go of what the failed pass has kept
      w.context.set_tape(nullptr);
      throw;
    }
    const auto waiting = w.context.timed("workers", "waiting", [] { return Work(); });
    team_.barrier();
  });
}

// Every part's gradient of the share's batches.
void Workers::compute(const Share& share, bool announces) {
  run_members(share.number, [&](Worker& w, int member) { add_gradients(w, member, share, announces); });
}

// The same number of every rank.
std::vector<std::size_t> Workers::everybodys(std::size_t passes) const {
  std::vector<std::size_t> counts;
  for (const std::string& count : options_.ranks->all_gather(std::to_string(passes)))
    counts.push_back(std::stoull(count));
  return counts;
}

namespace {

// Which ranks have a pass of that number.
std::vector<bool> who_has(std::size_t pass, const std::vector<std::size_t>& counts) {
  std::vector<bool> works;
  for (std::size_t count : counts) works.push_back(pass < count);
  return works;
}

}  // namespace

// Each pass together with all ranks' members, whoever has one; its gradient goes to those who step it.
void Workers::compute_in_shards(const Share& share) {
  const LossSettings loss = options_.loss.of_update(share.number);
  std::vector<std::vector<Pass>> passes;  // by member
  std::size_t own = 0;
  for (std::size_t part = 0; part < grads_.size(); ++part) {
    passes.push_back(passes_of(share, part, loss));
    own = std::max(own, passes.back().size());
    grads_[part]->restart();
  }
  const std::vector<std::size_t> counts = everybodys(own);
  const std::size_t all = *std::max_element(counts.begin(), counts.end());
  run_members(share.number, [&](Worker& w, int member) {
    const std::vector<Pass>& mine = passes[static_cast<std::size_t>(member)];
    sharding_->begin_update(member);
    for (std::size_t p = 0; p < all; ++p) {
      sharding_->begin_pass(member, /*trains=*/true, who_has(p, counts));
      if (p < mine.size()) add_gradient(w, mine[p], loss, share.normalizer, *grads_[static_cast<std::size_t>(member)]);
      sharding_->end_pass(member);
    }
    sharding_->end_update(member, who_has(0, counts));
  });
}

// One part's gradient of a parameter is there. Whoever brings the last one of a bucket adds the parts up and sends it.
void Workers::complete(std::uint64_t parameter) {
  const Branch buckets = buckets_of_.at(parameter);
  for (std::size_t b = buckets.first; b < buckets.last; ++b) {
    if (outstanding_[b].fetch_sub(1, std::memory_order_acq_rel) == 1) send(b);
  }
}

// Adds up the parts of a bucket and sends the sum.
void Workers::send(std::size_t bucket) {
  const Interval values = optimizer_.division().buckets()[bucket];
  float* const sum = gradients_[0].data<float>() + values.begin;
  for (std::size_t part = 1; part < gradients_.size(); ++part)
    options_.kernels->axpy(1.0f, gradients_[part].data<float>() + values.begin, sum, values.count);
  exchange_->send(bucket, 0, gradients_[0]);
}

// This rank's batches as one sum, each bucket of which travels while the rest is computed.
void Workers::compute_and_send(const Share& share) {
  for (std::atomic<int>& o : outstanding_) o = 0;
  for (const auto& [parameter, buckets] : buckets_of_)
    for (std::size_t b = buckets.first; b < buckets.last; ++b) outstanding_[b] += static_cast<int>(gradients_.size());
  compute(share, options_.overlap);
  for (std::size_t b = 0; b < outstanding_.size() && !options_.overlap; ++b) send(b);
  double tokens = 0;
  for (const std::vector<Batch>& batch : share.parts)
    for (const Batch& part : batch) tokens += static_cast<double>(part.target_tokens());
  noisy_.push_back({optimizer_.squared_norm(*options_.kernels, gradients_[0]), tokens});
}

// The sum of the parts' gradients over a branch's batches, in memory that is given back to spare_.
Tensor Workers::sum_of(Branch branch, const Share& share) {
  const kern::Kernels& k = *options_.kernels;
  const std::size_t count = optimizer_.division().window_count(), members = static_cast<std::size_t>(team_.size());
  const auto in_shares = [&](const auto& work) {
    team_.run([&](int member) {
      const auto m = static_cast<std::size_t>(member);
      const std::size_t begin = count * m / members, end = count * (m + 1) / members;
      work(begin, end - begin);
    });
  };
  const auto one_batch = [&](Branch b) -> Tensor {
    if (b.size() > 1) return {};
    Share one{b.first, {share.parts[b.first - share.first]}, share.number, share.normalizer};
    compute(one, false);
    if (spare_.empty()) spare_.push_back(lasting_zeros(static_cast<std::int64_t>(count)));
    const Tensor sum = spare_.back();
    spare_.pop_back();
    in_shares([&](std::size_t begin, std::size_t n) {
      float* const to = sum.data<float>() + begin;
      k.copy(gradients_[0].data<float>() + begin, to, n * sizeof(float));
      for (std::size_t part = 1; part < gradients_.size(); ++part)
        k.axpy(1.0f, gradients_[part].data<float>() + begin, to, n);
    });
    double tokens = 0;
    for (const Batch& part : one.parts[0]) tokens += static_cast<double>(part.target_tokens());
    noisy_.push_back({optimizer_.squared_norm(k, sum), tokens});
    return sum;
  };
  const auto join = [&](const Tensor& a, const Tensor& b) {
    in_shares(
        [&](std::size_t begin, std::size_t n) { k.axpy(1.0f, b.data<float>() + begin, a.data<float>() + begin, n); });
    spare_.push_back(b);
    return a;
  };
  return sum_in_order(branch, one_batch, join);
}

// This rank's batches as the branches of the tree over all of them.
void Workers::compute_in_order(const Share& share, std::span<const Branch> branches) {
  for (std::size_t i = 0; i < branches.size(); ++i) {
    sums_.push_back(sum_of(branches[i], share));
    for (std::size_t b = 0; b < optimizer_.division().buckets().size(); ++b) exchange_->send(b, i, sums_.back());
  }
}

// What the gradients of an update's parts, batches or ranks and their sum say of the gradient's noise. The loss of each is
// divided by the whole update's tokens, so that its own gradient is its share times tokens / its tokens.
GradientNoise Workers::noise_of(const UpdateResult& result) const {
  std::vector<PartGradient> parts;
  for (const PartGradient& p : noisy_) {
    if (p.tokens == 0) continue;
    const double own = static_cast<double>(result.tokens) / p.tokens;
    parts.push_back({p.squared_norm * own * own, p.tokens});
  }
  return gradient_noise(parts, result.gradient_norm * result.gradient_norm, static_cast<double>(result.tokens));
}

// What a rank tells the others of an update, as numbers: first whether it is the same update, ...
namespace {

enum Told : std::size_t { fingerprint_high, fingerprint_low, seconds_taken, losses, noises, numbers };

std::uint64_t fingerprint_of(std::span<const Batch> batches) {
  Hash hash;
  for (const Batch& b : batches)
    for (const std::vector<std::int32_t>* ids : {&b.source_ids, &b.target_ids})
      for (std::int32_t id : *ids) hash.add(std::int64_t{id});
  return hash.value();
}

}  // namespace

// ... then its losses, what it knows of the noise, and the squares of the stretches that it has added up.
void Workers::agree(std::span<const Batch> batches, UpdateResult& result, double seconds) {
  dist::Ranks& ranks = *options_.ranks;
  const std::uint64_t fingerprint = fingerprint_of(batches);
  std::vector<double> mine(numbers);
  mine[fingerprint_high] = static_cast<double>(fingerprint >> 32);
  mine[fingerprint_low] = static_cast<double>(fingerprint & 0xffffffffu);
  mine[seconds_taken] = seconds;
  mine[losses] = static_cast<double>(losses_.size());
  mine[noises] = static_cast<double>(noisy_.size());
  mine.insert(mine.end(), losses_.begin(), losses_.end());
  for (const PartGradient& p : noisy_) mine.insert(mine.end(), {p.squared_norm, p.tokens});
  for (double s : optimizer_.own_squares()) mine.push_back(s);

  losses_.clear(), noisy_.clear();
  const std::vector<std::vector<std::byte>> all = ranks.all_gather(std::as_bytes(std::span(mine)));
  for (int r = 0; r < ranks.size(); ++r) {
    const std::vector<std::byte>& bytes = all[static_cast<std::size_t>(r)];
    std::vector<double> told(bytes.size() / sizeof(double));
    std::memcpy(told.data(), bytes.data(), told.size() * sizeof(double));
    if (told[fingerprint_high] != mine[fingerprint_high] || told[fingerprint_low] != mine[fingerprint_low])
      fail(ranks.name_of(r), fmt::format("has other sentences in this update than {}", ranks.name_of(ranks.rank())),
           "give all ranks the same options and the same files");
    result.rank_seconds.push_back(told[seconds_taken]);
    auto next = told.begin() + numbers;
    for (auto n = told[losses]; n > 0; --n) losses_.push_back(*next++);
    for (auto n = told[noises]; n > 0; --n, next += 2) noisy_.push_back({next[0], next[1]});
    optimizer_.set_squares_of(r, std::span(next, told.end()));
  }
}

// Everybody's gradients are added up, clipped, and stepped.
void Workers::finish(std::span<const Batch> batches, UpdateResult& result, double rate, const UpdateLimits& limits,
                     double seconds) {
  const kern::Kernels& k = *options_.kernels;
  const int members = team_.size();
  const Tensor& gradient = sharding_ ? sharding_->sum() : gradients_[0];
  team_.run([&](int member) {
    Context& c = workers_[static_cast<std::size_t>(member)]->context;
    const auto time = c.timed("update", "rest", [] { return Work(); });
    // What one member does with the other ranks, once all of the team have done their part, while the rest waits.
    const auto among_ranks = [&](const auto& work) {
      const auto waiting = c.timed(member == 0 ? "ranks" : "workers", "waiting", [] { return Work(); });
      team_.barrier();
      const double start = seconds_now();
      if (member == 0) work(), result.waited += seconds_now() - start;
      team_.barrier();
    };
    const Optimizer::Share mine{member, members};
    if (exchange_ && exchanges_) among_ranks([&] { exchange_->wait(); });
    {
      const auto gathering = c.timed("gradients", "sum and norms", [&] { return gathering_work(); });
      if (sharding_)
        optimizer_.gather(k, mine, gradient, [](std::size_t, std::size_t, float*) {});  // it is the sum already
      else if (exchanges_)
        optimizer_.gather(k, mine, gradient, [&](std::size_t begin, std::size_t count, float* to) {
          exchange_->add_up(begin, count, to);
        });
      else
        optimizer_.gather(k, mine, gradients_);
    }
    among_ranks([&] {
      if (options_.ranks->size() > 1) agree(batches, result, seconds);
      result.gradient_norm = optimizer_.norm();
      for (double l : losses_) result.loss += l;
      result.broken_off = broken_off_;
      result.finite = !broken_off_ && std::isfinite(result.gradient_norm) && std::isfinite(result.loss) &&
                      result.gradient_norm <= limits.gradient_norm && result.loss <= limits.loss;
      if (result.finite && options_.before_step) options_.before_step();
    });
    if (!result.finite) return;
    {
      const auto stepping = c.timed("optimiser", "step", [&] { return stepping_work(); });
      optimizer_.step(k, mine, gradient, {rate, clipping(result.gradient_norm, options_.clip_norm)});
    }
    if (sharding_) return sharding_->refresh(member);
    among_ranks([&] {
      if (exchanges_) exchange_->share(trained_values());
    });
    const auto packing = c.timed("weights", "packing", [&] { return packing_work(); });
    model_.parameters().refresh(k, member, members);
  });
}

UpdateResult Workers::update(std::span<const Batch> batches, std::int64_t number, double rate,
                             const UpdateLimits& limits) {
  const double start = seconds_now();
  if (sharding_) sharding_->take_waited();  // since the update before: for a validation
  const auto ranks = static_cast<std::size_t>(options_.ranks->size()),
             rank = static_cast<std::size_t>(options_.ranks->rank());
  UpdateResult result;
  for (const Batch& b : batches) result.tokens += b.target_tokens();
  check(result.tokens > 0, "training", "an update without target tokens");

  const Branch all{0, batches.size()}, own = share_of(batches.size(), rank, ranks);
  Share share{own.first, {}, number, static_cast<double>(result.tokens)};
  for (const Batch& b : batches.subspan(own.first, own.size())) share.parts.push_back(split(b, options_.parts));
  first_batch_ = own.first;
  may_break_off_ = options_.stop && ranks == 1 && batches.size() > 1;
  broken_off_ = false;
  losses_.assign(own.size() * grads_.size(), 0.0);
  noisy_.clear();

  const bool in_order = options_.fixed_order && batches.size() > 1;
  exchanges_ = ranks > 1 || in_order;
  if (sharding_) {
    compute_in_shards(share);
  } else if (!exchanges_) {
    compute(share, false);
  } else {
    // In fixed order the tree is over the batches, and a rank gives some of its branches; else it is over the ranks.
    std::vector<std::vector<Branch>> sums(ranks);
    for (std::size_t r = 0; r < ranks; ++r) {
      const Branch theirs = share_of(batches.size(), r, ranks);
      if (in_order)
        append_branches(all, theirs, sums[r]);
      else if (theirs.size() > 0)
        sums[r] = {{r, r + 1}};
    }
    exchange_->begin(in_order ? all : Branch{0, ranks}, sums);
    if (in_order)
      compute_in_order(share, sums[rank]);
    else if (own.size() > 0)
      compute_and_send(share);
  }
  // What the others were waited for within the passes is not this rank's own time.
  const double waited = sharding_ ? sharding_->take_waited() : 0.0;
  result.waited += waited;
  finish(batches, result, rate, limits, seconds_now() - start - waited);
  if (sharding_) result.waited += sharding_->take_waited();  // for weights that belong to no layer
  spare_.insert(spare_.end(), sums_.begin(), sums_.end());
  sums_.clear();

  if (result.finite) optimizer_.finish_step();
  result.group_norms = optimizer_.group_norms();
  if (!exchanges_)
    for (std::size_t part = 0; part < grads_.size() && grads_.size() > 1; ++part) {
      double tokens = 0;
      for (const std::vector<Batch>& batch : share.parts) tokens += static_cast<double>(batch[part].target_tokens());
      noisy_.push_back({optimizer_.squared_norm_of(part), tokens});
    }
  result.noise = noise_of(result);
  return result;
}

Evaluation Workers::evaluate(std::span<const Batch> batches, const std::function<bool()>& stop) {
  std::vector<double> sums(batches.size());
  dist::Ranks& ranks = *options_.ranks;
  const std::size_t members = workers_.size();
  std::vector<std::size_t> own;  // every so many-th batch is this rank's
  for (auto b = static_cast<std::size_t>(ranks.rank()); b < batches.size(); b += static_cast<std::size_t>(ranks.size()))
    own.push_back(b);
  const std::size_t passes = (own.size() + members - 1) / members;
  const std::vector<std::size_t> counts = sharding_ ? everybodys(passes) : std::vector{passes};
  const std::size_t all = *std::max_element(counts.begin(), counts.end());
  team_.run([&](int member) {
    Context& c = workers_[static_cast<std::size_t>(member)]->context;
    c.set_training(false);
    for (std::size_t pass = 0; pass < all; ++pass) {
      if (stop && !sharding_ && stop()) break;
      const std::size_t next = pass * members + static_cast<std::size_t>(member);
      if (sharding_) sharding_->begin_pass(member, /*trains=*/false, who_has(pass, counts));
      if (next < own.size()) {
        const Batch& batch = batches[own[next]];
        const double tokens = static_cast<double>(batch.target_tokens());
        sums[own[next]] = host_copy<float>(batch_loss(c, model_, batch, {}, tokens))[0] * tokens;
      }
      if (sharding_) sharding_->end_pass(member);
    }
  });
  ranks.all_reduce(sums);  // each is one rank's, and the others' zero
  Evaluation e;
  for (std::size_t b = 0; b < batches.size(); ++b) e.cross_entropy += sums[b], e.tokens += batches[b].target_tokens();
  if (e.tokens > 0) e.cross_entropy /= static_cast<double>(e.tokens);
  return e;
}

// The stretch of the flat block that is trained.
Tensor Workers::trained_values() const {
  const nn::Parameters::Window window = model_.parameters().trained_window();
  return model_.parameters().flat().rows(window.begin, window.begin + window.count);
}

// A worker's share of the passes that are theirs together.
Work Workers::gathering_work() const {
  const std::size_t parts = gradients_.size(), written = parts > 1 ? 1 : 0;
  return {.bytes = static_cast<double>((parts + written) * gradients_[0].bytes()) / team_.size()};
}

// The gradient is read, the weights and the rule's state are read and written.
Work Workers::stepping_work() const {
  double kept = static_cast<double>(gradients_[0].bytes());
  for (const NamedTensor& t : optimizer_.state())
    if (t.name != optimizer_.weights().name) kept += static_cast<double>(t.value.bytes());
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
