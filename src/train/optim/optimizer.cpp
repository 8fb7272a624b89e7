#include "train/optim/optimizer.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "base/as_size.h"
#include "train/optim/schedule.h"

namespace tril::train {
namespace {

constexpr std::uint64_t noise_stream = 0x6e6f697365;  // distinct from dropout's streams, which are numbered by updates

// The group of a weight: "model.encoder.layers.0" of "model.encoder.layers.0.fc1.weight", "model.shared" of
// "model.shared.weight".
std::string group_of(const std::string& name) {
  for (std::size_t begin = 0; begin < name.size();) {
    const std::size_t end = std::min(name.find('.', begin), name.size());
    const std::string part = name.substr(begin, end - begin);
    if (!part.empty() && part.find_first_not_of("0123456789") == part.npos) return name.substr(0, end);
    begin = end + 1;
  }
  const std::size_t dot = name.rfind('.');
  return dot == name.npos ? name : name.substr(0, dot);
}

// The standard deviation of the noise at update t [Neelakantan et al. 2015, eq. 1]: sqrt(eta / (1 + t)^0.55).
double noise_deviation(double eta, std::int64_t t) {
  return std::sqrt(eta / std::pow(1 + static_cast<double>(t), 0.55));
}

}  // namespace

double clipping(double norm, double limit) {
  return limit > 0 && norm > limit ? limit / norm : 1.0;
}

Optimizer::Optimizer(nn::Parameters& parameters, OptimizerOptions options, int rank, int ranks)
    : parameters_(&parameters),
      options_(options),
      weights_(trained_weights(parameters)),
      rule_(make_rule(weights_, options)),
      division_(parameters, weights_, *rule_, rank, ranks) {
  if (options.ema > 0) ema_ = lasting_zeros(static_cast<std::int64_t>(division_.window_count()));
  if (ranks > 1)  // small pages: memory that only other ranks step is never touched and takes no space
    for (const NamedTensor& t : state()) use_small_pages(t.value);
  for (const TrainedWeight& w : weights_) {
    const std::string group = train::group_of(w.parameter->name);
    const auto known = std::find(groups_.begin(), groups_.end(), group);
    group_of_.push_back(as_size(known - groups_.begin()));
    if (known == groups_.end()) groups_.push_back(group);
  }
  squares_.assign(division_.stretches().size(), 0.0);
}

void Optimizer::measure_parts(std::size_t count) {
  part_squares_.assign(count, std::vector<double>(squares_.size()));
}

std::span<const std::size_t> Optimizer::stretches_of(Share share) const {
  const std::vector<std::size_t>& own = division_.own();
  const std::size_t n = own.size(), i = as_size(share.part), of = as_size(share.parts);
  return std::span(own).subspan(n * i / of, n * (i + 1) / of - n * i / of);
}

std::vector<std::size_t> Optimizer::whole_weights_of(Share share) const {
  const std::vector<std::size_t>& own = division_.own_whole();
  std::vector<std::size_t> loads, mine;
  for (std::size_t i : own) loads.push_back(weights_[i].count);
  const std::vector<std::size_t> taker = dealt_out(loads, as_size(share.parts));
  for (std::size_t i = 0; i < own.size(); ++i)
    if (taker[i] == as_size(share.part)) mine.push_back(own[i]);
  return mine;
}

void Optimizer::clear_untrained(const kern::Kernels& k, Share share, float* gradient) const {
  if (share.part > 0) return;
  for (const Stretch& row : division_.untrained_rows())
    k.fill(0.0f, gradient + row.begin - division_.window_begin(), row.count);
}

void Optimizer::gather(const kern::Kernels& k, Share share, std::span<Tensor> gradients) {
  float* const sum = gradients[0].data<float>();
  const std::size_t parts = std::min(part_squares_.size(), gradients.size());
  for (std::size_t r : stretches_of(share)) {
    const Stretch& s = division_.stretches()[r];
    const std::size_t at = s.begin - division_.window_begin();
    for (std::size_t i = 0; i < parts; ++i)
      part_squares_[i][r] = k.sum_squares(gradients[i].data<float>() + at, s.count);
    for (const Tensor& g : gradients.subspan(1)) k.axpy(1.0f, g.data<float>() + at, sum + at, s.count);
    squares_[r] = k.sum_squares(sum + at, s.count);
  }
  clear_untrained(k, share, sum);
}

void Optimizer::gather(const kern::Kernels& k, Share share, Tensor sum,
                       const std::function<void(std::size_t, std::size_t, float*)>& add_up) {
  for (std::size_t r : stretches_of(share)) {
    const Stretch& s = division_.stretches()[r];
    const std::size_t at = s.begin - division_.window_begin();
    float* const to = sum.data<float>() + at;
    add_up(at, s.count, to);
    squares_[r] = k.sum_squares(to, s.count);
  }
  clear_untrained(k, share, sum.data<float>());
}

std::vector<double> Optimizer::own_squares() const {
  std::vector<double> squares;
  for (std::size_t r : division_.own()) squares.push_back(squares_[r]);
  return squares;
}

void Optimizer::set_squares_of(int rank, std::span<const double> squares) {
  std::size_t next = 0;
  for (std::size_t r = 0; r < squares_.size(); ++r)
    if (division_.owner_of(r) == rank) squares_[r] = squares[next++];
}

double Optimizer::norm() const {
  double total = 0;
  for (std::size_t piece = 0; piece < division_.pieces(); ++piece) {
    double squares = 0;
    for (std::size_t r = division_.first_of_piece(piece); r < division_.first_of_piece(piece + 1); ++r)
      squares += squares_[r];
    total += squares;
  }
  return std::sqrt(total);
}

std::vector<GroupNorm> Optimizer::group_norms() const {
  std::vector<GroupNorm> norms;
  for (const std::string& group : groups_) norms.push_back({group, 0});
  for (std::size_t r = 0; r < squares_.size(); ++r)
    norms[group_of_[division_.stretches()[r].weight]].norm += squares_[r];
  for (GroupNorm& n : norms) n.norm = std::sqrt(n.norm);
  return norms;
}

double Optimizer::squared_norm_of(std::size_t i) const {
  const std::vector<double>& squares = part_squares_.at(i);
  return std::accumulate(squares.begin(), squares.end(), 0.0);
}

double Optimizer::squared_norm(const kern::Kernels& k, const Tensor& gradient) const {
  double squares = 0;
  for (const Stretch& s : division_.stretches())
    squares += k.sum_squares(gradient.data<float>() + s.begin - division_.window_begin(), s.count);
  return squares;
}

// Adds the noise, applies the rule once, and updates the average. `noisy`: the trained values of the stretch.
void Optimizer::step_stretch(const UpdateStep& u, const Stretch& s, std::span<const Stretch> noisy, Tensor& gradient) {
  float* const g = gradient.data<float>();
  float* const w = parameters_->flat().data<float>() + s.begin;
  if (options_.gradient_noise > 0 && u.gradient_scale > 0) {
    const RandomKey key = sub_key(random_key(options_.seed, noise_stream), static_cast<std::uint64_t>(u.t));
    const double deviation = noise_deviation(options_.gradient_noise, u.t) / u.gradient_scale;  // after clipping
    for (const Stretch& part : noisy)
      u.k.add_normal(sub_key(key, part.begin), static_cast<float>(deviation), g + part.begin - division_.window_begin(),
                     part.count);
  }
  UpdateStep own = u;
  const bool decays = !options_.decay_matrices_only || weights_[s.weight].parameter->shape.rank() > 1;
  own.weight_decay = decays ? options_.weight_decay : 0;
  rule_->step(own, s, w, g + s.begin - division_.window_begin());
  if (!ema_) return;
  const auto keep = static_cast<float>(average_decay(options_.ema, u.t));
  float* const average = ema_.data<float>() + s.begin - division_.window_begin();
  u.k.scale(keep, average, average, s.count);
  u.k.axpy(1 - keep, w, average, s.count);
}

void Optimizer::step(const kern::Kernels& k, Share share, Tensor gradient, const OptimizerStep& step) {
  const UpdateStep u{k, steps_ + 1, step.rate, step.gradient_scale};
  const std::vector<Stretch>& all = division_.stretches();
  for (std::size_t r : stretches_of(share))
    if (!rule_->takes_whole(all[r].weight)) step_stretch(u, all[r], {&all[r], 1}, gradient);
  for (std::size_t i : whole_weights_of(share)) {
    const auto of_weight = [](const Stretch& s, std::size_t weight) { return s.weight < weight; };
    const auto first = std::lower_bound(all.begin(), all.end(), i, of_weight),
               last = std::lower_bound(first, all.end(), i + 1, of_weight);
    step_stretch(u, {i, weights_[i].begin, weights_[i].count}, {first, last}, gradient);
  }
}

bool Optimizer::finite_weights(const kern::Kernels& k) const {
  const float* w = parameters_->flat().data<float>();
  double squares = 0;  // sums of float squares do not overflow a double
  for (std::size_t r = 0; r < division_.stretches().size(); ++r) {
    const Stretch& s = division_.stretches()[r];
    if (!shards_weights() || division_.owner_of(r) == division_.rank()) squares += k.sum_squares(w + s.begin, s.count);
  }
  return std::isfinite(squares);
}

std::vector<NamedTensor> Optimizer::state() const {
  std::vector<NamedTensor> list = rule_->state();
  if (ema_) list.push_back({"average", ema_});
  if (shards_weights()) list.push_back(weights());
  return list;
}

namespace {

// Sorts the slices and merges neighbours.
std::vector<StateSlice> merged(std::vector<StateSlice> slices) {
  std::sort(slices.begin(), slices.end(), [](const StateSlice& a, const StateSlice& b) {
    return std::tie(a.tensor, a.begin) < std::tie(b.tensor, b.begin);
  });
  std::vector<StateSlice> list;
  for (StateSlice& s : slices)
    if (!list.empty() && list.back().tensor == s.tensor && list.back().begin + list.back().count == s.begin)
      list.back().count += s.count;
    else
      list.push_back(std::move(s));
  return list;
}

}  // namespace

std::vector<StateSlice> Optimizer::unstepped_weights() const {
  std::vector<StateSlice> slices;
  std::size_t at = 0;
  const auto append_until = [&](std::size_t begin) {
    if (at < begin) slices.push_back({weights().name, at, begin - at});
  };
  for (const Stretch& s : division_.stretches()) {
    append_until(s.begin);
    at = s.begin + s.count;
  }
  append_until(as_size(parameters_->flat().count()));
  return slices;
}

std::vector<StateSlice> Optimizer::own_state() const {
  const std::vector<Stretch>& all = division_.stretches();
  std::vector<StateSlice> slices;
  const auto append = [&](const Stretch& s) {
    for (StateSlice& slice : rule_->state_of(s)) slices.push_back(std::move(slice));
  };
  for (std::size_t i : division_.own_whole()) append({i, weights_[i].begin, weights_[i].count});
  for (std::size_t r : division_.own()) {
    if (!rule_->takes_whole(all[r].weight)) append(all[r]);
    if (ema_) slices.push_back({"average", all[r].begin - division_.window_begin(), all[r].count});
    if (shards_weights()) slices.push_back({weights().name, all[r].begin, all[r].count});
  }
  if (shards_weights() && division_.rank() == 0)
    for (StateSlice& s : unstepped_weights()) slices.push_back(std::move(s));
  return merged(std::move(slices));
}

std::vector<float> Optimizer::averaged_weights(const std::function<void(Tensor)>& complete) const {
  if (!ema_) return {};
  std::vector<float> all = host_copy<float>(parameters_->flat()), average = host_copy<float>(ema_);
  if (division_.ranks() > 1) {
    const Tensor whole = lasting_zeros(ema_.count());
    host_write<float>(whole, average);
    complete(whole);
    average = host_copy<float>(whole);
  }
  for (const Stretch& s : division_.stretches()) {
    const auto from = average.begin() + static_cast<std::ptrdiff_t>(s.begin - division_.window_begin());
    std::copy_n(from, s.count, all.begin() + static_cast<std::ptrdiff_t>(s.begin));
  }
  return all;
}

void Optimizer::start_average() {
  if (!ema_) return;
  const float* const weights = parameters_->flat().data<float>();
  for (std::size_t r : division_.own()) {
    const Stretch& s = division_.stretches()[r];
    kern::best().copy(weights + s.begin, ema_.data<float>() + s.begin - division_.window_begin(),
                      s.count * sizeof(float));
  }
}

}  // namespace tril::train
