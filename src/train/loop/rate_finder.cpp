#include "train/loop/rate_finder.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/as_size.h"
#include "train/loop/data.h"
#include "train/loop/derived_settings.h"
#include "train/loop/trainer.h"
#include "train/loss/teachers.h"

namespace tril::train {
namespace {

constexpr double smoothing = 0.9;
constexpr std::size_t reach = 3;  // points on each side for a slope

// The slope of the smoothed loss against ln rate around point i.
double slope(const std::vector<RatePoint>& p, std::size_t i) {
  const RatePoint &a = p[i - reach], &b = p[i + reach];
  return (b.smoothed - a.smoothed) / (std::log(b.rate) - std::log(a.rate));
}

}  // namespace

double sweep_rate(const RateSweepOptions& sweep, std::int64_t i) {
  const double part = static_cast<double>(i) / static_cast<double>(std::max<std::int64_t>(sweep.updates - 1, 1));
  return sweep.lowest * std::pow(sweep.highest / sweep.lowest, part);
}

void judge(RateSweep& sweep) {
  std::vector<RatePoint>& p = sweep.points;
  double average = 0, weight = 0;
  for (RatePoint& point : p) {
    average = smoothing * average + (1 - smoothing) * point.loss;
    weight = smoothing * weight + (1 - smoothing);
    point.smoothed = average / weight;
  }
  sweep.suggestion.reset(), sweep.turn.reset();
  if (p.empty()) return;
  const auto lowest = std::min_element(p.begin(), p.end(),
                                       [](const RatePoint& a, const RatePoint& b) { return a.smoothed < b.smoothed; });
  sweep.turn = lowest->rate;
  const auto end = as_size(lowest - p.begin());
  double steepest = 0;
  for (std::size_t i = reach; i + reach < p.size() && i <= end; ++i)
    if (slope(p, i) < steepest) steepest = slope(p, i), sweep.suggestion = p[i].rate;
}

RateSweep sweep_rates(const TrainOptions& options, model::Model& model,
                      const std::shared_ptr<const Tokenizer>& tokenizer, const RateSweepOptions& sweep,
                      const std::function<void(const RatePoint&)>& on_update) {
  OptimizerOptions how = optimizer_options(options.learning);
  how.ema = 0;
  how.seed = options.run.seed;
  Optimizer optimizer(model.parameters(), how);
  WorkersOptions of_workers = workers_options(options, model);
  if (of_workers.loss.r_drop_start > 0) of_workers.loss.r_drop = 0;  // off, as at the start of a run
  of_workers.loss.teachers = teachers_of(options.learning.teacher, *tokenizer, options.data.max_length);
  Workers workers(model, optimizer, of_workers);
  const std::unique_ptr<BatchStream> corpus = training_stream(options, tokenizer);
  RateSweep result;
  double best = std::numeric_limits<double>::infinity(), average = 0, weight = 0;
  for (std::int64_t i = 0; i < sweep.updates && !result.diverged; ++i) {
    std::vector<Batch> group;
    for (std::int64_t b = 0; b < options.learning.accumulate; ++b) group.push_back(corpus->next());
    const UpdateResult r = workers.update(group, i + 1, sweep_rate(sweep, i));
    if (!r.finite) {
      result.diverged = true;
      break;
    }
    result.points.push_back({i + 1, sweep_rate(sweep, i), r.loss, 0});
    RatePoint& now = result.points.back();
    average = smoothing * average + (1 - smoothing) * r.loss;
    weight = smoothing * weight + (1 - smoothing);
    now.smoothed = average / weight;
    best = std::min(best, now.smoothed);
    result.diverged = now.smoothed > 4 * best;
    if (on_update) on_update(now);
  }
  judge(result);
  return result;
}

std::string rate_sweep_svg(const RateSweep& sweep) {
  constexpr double width = 720, height = 420, left = 70, right = 20, top = 30, bottom = 50;
  const std::vector<RatePoint>& p = sweep.points;
  std::string svg = fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0} {1}" font-family="sans-serif" font-size="13">)"
      R"(<rect width="{0}" height="{1}" fill="#fff"/>)",
      width, height);
  if (p.size() < 2) return svg + "</svg>\n";
  double lowest = p[0].smoothed, highest = p[0].smoothed;
  for (const RatePoint& point : p)
    lowest = std::min(lowest, point.smoothed), highest = std::max(highest, point.smoothed);
  highest = std::min(highest, lowest + 2 * (p[0].smoothed - lowest) + 1);
  const double first = std::log10(p.front().rate), last = std::log10(p.back().rate);
  const auto x = [&](double rate) {
    return left + (width - left - right) * (std::log10(rate) - first) / (last - first);
  };
  const auto y = [&](double loss) {
    const double part = (std::min(loss, highest) - lowest) / std::max(highest - lowest, 1e-12);
    return height - bottom - (height - top - bottom) * part;
  };
  for (int power = static_cast<int>(std::ceil(first)); power <= last; ++power) {
    const double at = x(std::pow(10, power));
    svg += fmt::format(R"(<line x1="{0:.1f}" x2="{0:.1f}" y1="{1}" y2="{2}" stroke="#ddd"/>)"
                       R"(<text x="{0:.1f}" y="{3}" text-anchor="middle">1e{4}</text>)",
                       at, top, height - bottom, height - bottom + 18, power);
  }
  for (int i = 0; i <= 4; ++i) {
    const double loss = lowest + (highest - lowest) * i / 4;
    svg += fmt::format(R"(<line x1="{0}" x2="{1}" y1="{2:.1f}" y2="{2:.1f}" stroke="#ddd"/>)"
                       R"(<text x="{3}" y="{4:.1f}" text-anchor="end">{5:.3g}</text>)",
                       left, width - right, y(loss), left - 6, y(loss) + 4, loss);
  }
  std::string raw, smooth;
  for (const RatePoint& point : p) {
    raw += fmt::format("{:.1f},{:.1f} ", x(point.rate), y(point.loss));
    smooth += fmt::format("{:.1f},{:.1f} ", x(point.rate), y(point.smoothed));
  }
  svg += fmt::format(R"(<polyline points="{}" fill="none" stroke="#bbb"/>)", raw);
  svg += fmt::format(R"(<polyline points="{}" fill="none" stroke="#1f6fb4" stroke-width="2"/>)", smooth);
  if (sweep.suggestion)
    svg += fmt::format(R"(<line x1="{0:.1f}" x2="{0:.1f}" y1="{1}" y2="{2}" stroke="#c33" stroke-dasharray="5 4"/>)"
                       R"(<text x="{0:.1f}" y="20" text-anchor="middle" fill="#c33">{3:.2g}</text>)",
                       x(*sweep.suggestion), top, height - bottom, *sweep.suggestion);
  return svg +
         fmt::format(R"(<text x="{}" y="{}" text-anchor="middle">learning rate</text></svg>)", width / 2, height - 10) +
         "\n";
}

}  // namespace tril::train
