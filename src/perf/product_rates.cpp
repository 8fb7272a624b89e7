#include "perf/product_rates.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "nn/layers.h"
#include "tensor/lasting.h"

namespace tril::train {
namespace {

constexpr int rate_windows = 3;  // the best one counts: other programs may be using the machine
constexpr double rate_window_seconds = 0.025;
constexpr std::int64_t prompt_rows = 128, most_layer_bytes = std::int64_t{1} << 28;

// Every value of the weights, whatever its type, is a harmless number: 0.0115 as a float, 60 as an integer.
void fill(nn::Parameters& p, nn::Precision precision) {
  const std::size_t bytes = p.serving_bytes(precision);
  const std::shared_ptr<std::byte> memory = lasting_memory(bytes);
  std::memset(memory.get(), 0x3c, bytes);
  p.adopt_serving_image(precision, {memory.get(), bytes}, memory);
}

// The highest number of calls per second.
double best_rate_of(const std::function<void()>& call) {
  call();
  double best = 0;
  for (int i = 0; i < rate_windows; ++i) {
    const double start = seconds_now();
    double calls = 0, now = start;
    while (now - start < rate_window_seconds) call(), calls += 1, now = seconds_now();
    best = std::max(best, calls / (now - start));
  }
  return best;
}

void store_in(nn::Parameters& p, kern::BlockFormat blocks) {
  for (nn::Parameter& one : p.all()) one.stored_blocks = blocks;
}

// The bytes of two matrices, to a width and back.
std::int64_t layer_bytes(std::int64_t width, std::int64_t inner, nn::Precision precision, kern::BlockFormat blocks) {
  nn::Parameters one;
  const nn::Linear sizer(one, "sizer", width, inner, {.bias = false});
  store_in(one, blocks);
  return 2 * static_cast<std::int64_t>(one.serving_bytes(precision));
}

Tensor rows_of_ones(const Context& c, std::int64_t rows, std::int64_t width) {
  return c.upload<float>(std::vector<float>(as_size(rows * width), 1.0f), {rows, width});
}

}  // namespace

ProductRates measure_product_rates(Context& c, nn::Precision precision, const MeasuredWeights& weights) {
  const std::int64_t step = precision == nn::Precision::blocks ? std::int64_t{kern::block_depth} : 64;
  const std::int64_t wanted = precision == nn::Precision::blocks ? weights.width / step * step : weights.width;
  const std::int64_t width = std::max<std::int64_t>(wanted, step);
  const std::int64_t whole_bytes = layer_bytes(width, 4 * width, precision, weights.blocks);
  // A wide layer is measured in part: the model may be one that does not fit into memory.
  const std::int64_t inner =
      whole_bytes <= most_layer_bytes
          ? 4 * width
          : std::max<std::int64_t>(step, 4 * width * most_layer_bytes / whole_bytes / step * step);
  const std::int64_t layers =
      std::max<std::int64_t>(1, weights.bytes / layer_bytes(width, inner, precision, weights.blocks));
  nn::Parameters p;
  std::vector<nn::Linear> up, down;
  for (std::int64_t i = 0; i < layers; ++i) {
    const std::string name = std::to_string(i);
    up.emplace_back(p, name + ".up", width, inner, nn::Linear::Options{.bias = false});
    down.emplace_back(p, name + ".down", inner, width, nn::Linear::Options{.bias = false});
  }
  store_in(p, weights.blocks);
  fill(p, precision);
  const auto layer = [&](std::int64_t i, const Tensor& x, const Tensor& h) {
    up[as_size(i)].forward(c, x);
    down[as_size(i)].forward(c, h);
  };

  ProductRates rates;
  const Tensor x = rows_of_ones(c, 1, width), h = rows_of_ones(c, 1, inner);
  double bytes = 0;
  for (const nn::Parameter& one : p.all()) bytes += nn::product_bytes(one, precision);
  rates.weight_bytes = bytes * best_rate_of([&] {
                         for (std::int64_t i = 0; i < layers; ++i) layer(i, x, h);
                       });
  const Tensor xs = rows_of_ones(c, prompt_rows, width), hs = rows_of_ones(c, prompt_rows, inner);
  std::int64_t next = 0;
  rates.multiply_adds =
      2.0 * static_cast<double>(prompt_rows * width * inner) * best_rate_of([&] { layer(next++ % layers, xs, hs); });
  return rates;
}

}  // namespace tril::train
