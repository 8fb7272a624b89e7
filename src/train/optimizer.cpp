#include "train/optimizer.h"

#include <sys/mman.h>

#include <cmath>
#include <limits>
#include <memory>

#include "train/schedule.h"

namespace tril::train {
namespace {

constexpr std::size_t piece_values =
    1 << 16;  // 256 KiB of each array: w, m, v, g of a piece pass through a core's cache

std::size_t size_of_block(const nn::Parameters& p) {
  return static_cast<std::size_t>(p.flat().count());
}

}  // namespace

Tensor lasting_zeros(std::int64_t n) {
  const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(float);
  const std::size_t mapped = bytes ? bytes : 1;
  void* p = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);  // zeroed by the system
  if (p == MAP_FAILED)
    fail("training", fmt::format("no memory for {} bytes", bytes), "choose a smaller model or fewer threads");
  madvise(p, mapped, MADV_HUGEPAGE);  // advice only
  return foreign_tensor(static_cast<std::byte*>(p), {n}, DType::f32,
                        std::shared_ptr<const void>(p, [mapped](void* q) { munmap(q, mapped); }));
}

double clipping(double norm, double limit) {
  return limit > 0 && norm > limit ? limit / norm : 1.0;
}

Optimizer::Optimizer(nn::Parameters& parameters, OptimizerOptions options)
    : parameters_(&parameters), options_(options) {
  const std::size_t total = size_of_block(parameters);
  m_ = lasting_zeros(parameters.flat().count());
  v_ = lasting_zeros(parameters.flat().count());
  if (options.ema > 0) ema_ = lasting_zeros(parameters.flat().count());

  std::vector<Range> whole;
  const auto append = [&](std::size_t begin, std::size_t end) {
    if (begin < end) whole.push_back({begin, end});
  };
  for (const nn::Parameter& p : parameters.all()) {
    if (!p.trainable) continue;
    const std::size_t begin = static_cast<std::size_t>(parameters.offset_of(p));
    const std::size_t end = begin + static_cast<std::size_t>(p.shape.count());
    if (p.zero_row < 0) {
      append(begin, end);
      continue;
    }
    const std::size_t row = static_cast<std::size_t>(p.shape.count() / p.shape[0]);
    const std::size_t hole = begin + static_cast<std::size_t>(p.zero_row) * row;
    append(begin, hole);
    append(hole + row, end);
  }

  const std::size_t pieces = (total + piece_values - 1) / piece_values;
  squares_.assign(pieces, 0.0);
  for (std::size_t piece = 0, next = 0; piece < pieces; ++piece) {
    first_of_piece_.push_back(trained_.size());
    const std::size_t begin = piece * piece_values, end = begin + piece_values;
    for (; next < whole.size() && whole[next].begin < end; ++next) {
      trained_.push_back({std::max(begin, whole[next].begin), std::min(end, whole[next].end)});
      if (whole[next].end > end) break;  // goes on in the next piece
    }
  }
  first_of_piece_.push_back(trained_.size());
}

Optimizer::Pieces Optimizer::pieces_of(int part, int parts) const {
  const std::size_t n = squares_.size(), i = static_cast<std::size_t>(part), of = static_cast<std::size_t>(parts);
  return {n * i / of, n * (i + 1) / of};
}

template <class F>
void Optimizer::for_each_trained(std::size_t piece, F&& f) const {
  for (std::size_t r = first_of_piece_[piece]; r < first_of_piece_[piece + 1]; ++r)
    f(trained_[r].begin, trained_[r].end - trained_[r].begin);
}

void Optimizer::gather(const kern::Kernels& k, Pieces pieces, std::span<const Tensor> gradients) {
  float* sum = gradients[0].data<float>();
  for (std::size_t piece = pieces.first; piece < pieces.last; ++piece) {
    double squares = 0;
    for_each_trained(piece, [&](std::size_t at, std::size_t n) {
      for (const Tensor& g : gradients.subspan(1)) k.axpy(1.0f, g.data<float>() + at, sum + at, n);
      squares += k.sum_squares(sum + at, n);
    });
    squares_[piece] = squares;
  }
}

double Optimizer::norm() const {
  double total = 0;
  for (double s : squares_) total += s;
  return std::sqrt(total);
}

void Optimizer::step(const kern::Kernels& k, Pieces pieces, const Tensor& gradient, const OptimizerStep& step) {
  const double t = static_cast<double>(steps_ + 1);
  kern::Adam a;
  a.lr = static_cast<float>(step.rate);
  a.beta1 = static_cast<float>(options_.beta1);
  a.beta2 = static_cast<float>(options_.beta2);
  a.eps = static_cast<float>(options_.epsilon);
  (options_.decoupled_decay ? a.decoupled_decay : a.l2) = static_cast<float>(options_.weight_decay);
  a.bias1 = static_cast<float>(1 - std::pow(options_.beta1, t));
  a.bias2 = static_cast<float>(1 - std::pow(options_.beta2, t));
  a.gradient_scale = static_cast<float>(step.gradient_scale);
  const float keep = static_cast<float>(average_decay(options_.ema, steps_ + 1));

  float* w = parameters_->flat().data<float>();
  for (std::size_t piece = pieces.first; piece < pieces.last; ++piece) {
    for_each_trained(piece, [&](std::size_t at, std::size_t n) {
      k.adam(a, w + at, m_.data<float>() + at, v_.data<float>() + at, gradient.data<float>() + at, n);
      if (!ema_) return;
      k.scale(keep, ema_.data<float>() + at, ema_.data<float>() + at, n);
      k.axpy(1 - keep, w + at, ema_.data<float>() + at, n);
    });
  }
}

bool Optimizer::finite_weights(const kern::Kernels& k) const {
  const float* w = parameters_->flat().data<float>();
  double squares = 0;  // of floats, which do not overflow a double
  for (std::size_t piece = 0; piece < squares_.size(); ++piece)
    for_each_trained(piece, [&](std::size_t at, std::size_t n) { squares += k.sum_squares(w + at, n); });
  return std::isfinite(squares);
}

void Optimizer::start_average() {
  if (ema_) host_write<float>(ema_, host_copy<float>(parameters_->flat()));
}

}  // namespace tril::train
