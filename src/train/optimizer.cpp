#include "train/optimizer.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "train/schedule.h"

namespace tril::train {
namespace {

constexpr std::size_t piece_values =
    1 << 16;  // 256 KiB of each array: w, m, v, g of a piece pass through a core's cache
constexpr std::uint64_t noise_stream = 0x6e6f697365;  // apart from dropout's, whose streams are updates

// "model.encoder.layers.0" of "model.encoder.layers.0.fc1.weight", "model.shared" of "model.shared.weight".
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

// The noise's deviation at update t [Neelakantan et al. 2015, eq. 1]: sqrt(eta / (1 + t)^0.55).
double noise_deviation(double eta, std::int64_t t) {
  return std::sqrt(eta / std::pow(1 + static_cast<double>(t), 0.55));
}

}  // namespace

double clipping(double norm, double limit) {
  return limit > 0 && norm > limit ? limit / norm : 1.0;
}

Optimizer::Optimizer(nn::Parameters& parameters, OptimizerOptions options)
    : parameters_(&parameters),
      options_(options),
      weights_(trained_weights(parameters)),
      rule_(make_rule(weights_, options)) {
  const nn::Parameters::Window window = parameters.trained_window();
  window_begin_ = static_cast<std::size_t>(window.begin);
  if (options.ema > 0) ema_ = lasting_zeros(window.count);

  std::vector<Stretch> whole;
  const auto append = [&](std::size_t weight, std::size_t begin, std::size_t end) {
    if (begin < end) whole.push_back({weight, begin, end - begin});
  };
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    const nn::Parameter& p = *weights_[i].parameter;
    const std::string group = train::group_of(p.name);
    const auto known = std::find(groups_.begin(), groups_.end(), group);
    group_of_.push_back(static_cast<std::size_t>(known - groups_.begin()));
    if (known == groups_.end()) groups_.push_back(group);

    const std::size_t begin = weights_[i].begin, end = begin + weights_[i].count;
    if (p.zero_row < 0) {
      append(i, begin, end);
      continue;
    }
    const std::size_t row = static_cast<std::size_t>(p.shape.count() / p.shape[0]);
    const std::size_t hole = begin + static_cast<std::size_t>(p.zero_row) * row;
    append(i, begin, hole);
    append(i, hole + row, end);
    untrained_rows_.push_back({i, hole, row});
  }

  const std::size_t pieces = (static_cast<std::size_t>(window.count) + piece_values - 1) / piece_values;
  squares_.assign(pieces, 0.0);
  for (std::size_t piece = 0, next = 0; piece < pieces; ++piece) {
    first_of_piece_.push_back(trained_.size());
    const std::size_t begin = window_begin_ + piece * piece_values, end = begin + piece_values;
    for (; next < whole.size() && whole[next].begin < end; ++next) {
      const std::size_t from = std::max(begin, whole[next].begin), to = whole[next].begin + whole[next].count;
      trained_.push_back({whole[next].weight, from, std::min(end, to) - from});
      if (to > end) break;  // goes on in the next piece
    }
  }
  first_of_piece_.push_back(trained_.size());
  stretch_squares_.assign(trained_.size(), 0.0);
}

Optimizer::Pieces Optimizer::pieces_of(Share share) const {
  const std::size_t n = squares_.size(), i = static_cast<std::size_t>(share.part),
                    of = static_cast<std::size_t>(share.parts);
  return {n * i / of, n * (i + 1) / of};
}

// The largest first, each to the worker that has least so far.
std::vector<std::size_t> Optimizer::whole_weights_of(Share share) const {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < weights_.size(); ++i)
    if (rule_->takes_whole(i)) order.push_back(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return weights_[a].count > weights_[b].count; });
  std::vector<std::size_t> load(static_cast<std::size_t>(share.parts)), mine;
  for (std::size_t i : order) {
    const auto least = std::min_element(load.begin(), load.end());
    *least += weights_[i].count;
    if (least - load.begin() == share.part) mine.push_back(i);
  }
  return mine;
}

template <class F>
void Optimizer::for_each_trained(std::size_t piece, F&& f) const {
  for (std::size_t r = first_of_piece_[piece]; r < first_of_piece_[piece + 1]; ++r) f(r, trained_[r]);
}

void Optimizer::gather(const kern::Kernels& k, Share share, std::span<const Tensor> gradients) {
  const Pieces pieces = pieces_of(share);
  float* sum = gradients[0].data<float>();
  const std::size_t parts = std::min(part_squares_.size(), gradients.size());
  for (std::size_t piece = pieces.first; piece < pieces.last; ++piece) {
    double squares = 0;
    for (std::vector<double>& of_part : part_squares_) of_part[piece] = 0;
    for_each_trained(piece, [&](std::size_t r, const Stretch& s) {
      const std::size_t at = s.begin - window_begin_;
      for (std::size_t i = 0; i < parts; ++i)
        part_squares_[i][piece] += k.sum_squares(gradients[i].data<float>() + at, s.count);
      for (const Tensor& g : gradients.subspan(1)) k.axpy(1.0f, g.data<float>() + at, sum + at, s.count);
      stretch_squares_[r] = k.sum_squares(sum + at, s.count);
      squares += stretch_squares_[r];
    });
    squares_[piece] = squares;
  }
  for (const Stretch& row : untrained_rows_) {
    const std::size_t at = row.begin - window_begin_, piece = at / piece_values;
    if (piece >= pieces.first && piece < pieces.last) k.fill(0.0f, sum + at, row.count);
  }
}

double Optimizer::norm() const {
  double total = 0;
  for (double s : squares_) total += s;
  return std::sqrt(total);
}

std::vector<GroupNorm> Optimizer::group_norms() const {
  std::vector<GroupNorm> norms;
  for (const std::string& group : groups_) norms.push_back({group, 0});
  for (std::size_t r = 0; r < trained_.size(); ++r) norms[group_of_[trained_[r].weight]].norm += stretch_squares_[r];
  for (GroupNorm& n : norms) n.norm = std::sqrt(n.norm);
  return norms;
}

double Optimizer::squared_norm_of(std::size_t i) const {
  const std::vector<double>& squares = part_squares_.at(i);
  return std::accumulate(squares.begin(), squares.end(), 0.0);
}

// One call of the rule, with the noise before it and the average after it. `noisy`: what of the stretch is trained.
void Optimizer::step_stretch(const UpdateStep& u, const Stretch& s, std::span<const Stretch> noisy,
                             const Tensor& gradient) {
  float* const g = gradient.data<float>();
  float* const w = parameters_->flat().data<float>() + s.begin;
  if (options_.gradient_noise > 0 && u.gradient_scale > 0) {
    const RandomKey key = sub_key(random_key(options_.seed, noise_stream), static_cast<std::uint64_t>(u.t));
    const double deviation = noise_deviation(options_.gradient_noise, u.t) / u.gradient_scale;  // after clipping
    for (const Stretch& part : noisy)
      u.k.add_normal(sub_key(key, part.begin), static_cast<float>(deviation), g + part.begin - window_begin_,
                     part.count);
  }
  UpdateStep own = u;
  const bool decays = !options_.decay_matrices_only || weights_[s.weight].parameter->shape.rank() > 1;
  own.weight_decay = decays ? options_.weight_decay : 0;
  rule_->step(own, s, w, g + s.begin - window_begin_);
  if (!ema_) return;
  const auto keep = static_cast<float>(average_decay(options_.ema, u.t));
  float* const average = ema_.data<float>() + s.begin - window_begin_;
  u.k.scale(keep, average, average, s.count);
  u.k.axpy(1 - keep, w, average, s.count);
}

void Optimizer::step(const kern::Kernels& k, Share share, const Tensor& gradient, const OptimizerStep& step) {
  const UpdateStep u{k, steps_ + 1, step.rate, step.gradient_scale};
  const Pieces pieces = pieces_of(share);
  for (std::size_t piece = pieces.first; piece < pieces.last; ++piece)
    for_each_trained(piece, [&](std::size_t, const Stretch& s) {
      if (!rule_->takes_whole(s.weight)) step_stretch(u, s, {&s, 1}, gradient);
    });
  for (std::size_t i : whole_weights_of(share)) {
    const auto of_weight = [](const Stretch& s, std::size_t weight) { return s.weight < weight; };
    const auto first = std::lower_bound(trained_.begin(), trained_.end(), i, of_weight),
               last = std::lower_bound(first, trained_.end(), i + 1, of_weight);
    step_stretch(u, {i, weights_[i].begin, weights_[i].count}, {first, last}, gradient);
  }
}

bool Optimizer::finite_weights(const kern::Kernels& k) const {
  const float* w = parameters_->flat().data<float>();
  double squares = 0;  // of floats, which do not overflow a double
  for (const Stretch& s : trained_) squares += k.sum_squares(w + s.begin, s.count);
  return std::isfinite(squares);
}

std::vector<NamedTensor> Optimizer::state() const {
  std::vector<NamedTensor> list = rule_->state();
  if (ema_) list.push_back({"average", ema_});
  return list;
}

std::vector<float> Optimizer::averaged_weights() const {
  if (!ema_) return {};
  std::vector<float> all = host_copy<float>(parameters_->flat());
  const std::vector<float> average = host_copy<float>(ema_);
  std::copy(average.begin(), average.end(), all.begin() + static_cast<std::ptrdiff_t>(window_begin_));
  return all;
}

void Optimizer::start_average() {
  if (!ema_) return;
  const std::vector<float> all = host_copy<float>(parameters_->flat());
  host_write<float>(ema_, std::span(all).subspan(window_begin_, static_cast<std::size_t>(ema_.count())));
}

}  // namespace tril::train
