#include "learn/worked.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/as_size.h"
#include "base/error.h"
#include "format/json_file.h"
#include "model_io/source/registry.h"
#include "nn/layers.h"
#include "nn/positions.h"
#include "nn/rotary.h"
#include "tensor/observer.h"

namespace tril::learn {
namespace {

std::vector<float> to_floats(std::span<const double> values) {
  return {values.begin(), values.end()};
}

Grid read_back(const Tensor& x) {
  const std::vector<float> values = host_copy<float>(x);
  return {x.size(0), x.size(1), {values.begin(), values.end()}};
}

Tensor upload_grid(const Context& c, const Grid& g) {
  return c.upload<float>(to_floats(g.values), {g.rows, g.columns});
}

Tensor upload_row(const Context& c, std::span<const double> x) {
  return c.upload<float>(to_floats(x), {1, std::ssize(x)});
}

Tensor upload_list(const Context& c, std::span<const double> x) {
  return c.upload<float>(to_floats(x), {std::ssize(x)});
}

ops::Mask mask_of(const Context& c, const HeadInput& in, const HeadOptions& o) {
  if (o.hidden_keys.empty()) return o.causal ? ops::Mask::causal() : ops::Mask::full();
  std::vector<std::uint8_t> allow;
  for (std::int64_t i = 0; i < in.q.rows; ++i)
    for (std::int64_t j = 0; j < in.k.rows; ++j)
      allow.push_back(!o.hidden_keys[as_size(j)] && (!o.causal || j <= i) ? 1 : 0);
  return ops::Mask::explicit01(c.upload<std::uint8_t>(allow, {1, 1, in.q.rows, in.k.rows}));
}

// Keeps the weights of an attention, which stay as they are.
class SeesWeights : public Observer {
 public:
  std::vector<float> weights;

 protected:
  bool wants_point(const std::string& name) override { return name == "weights"; }
  bool see_point(Context&, const std::string&, std::int64_t, Tensor& value) override {
    weights = host_copy<float>(value);
    return false;
  }
};

}  // namespace

std::vector<double> Grid::row(std::int64_t i) const {
  const auto begin = values.begin() + i * columns;
  return {begin, begin + columns};
}

Grid grid(std::int64_t rows, std::int64_t columns, std::vector<double> values) {
  check(std::ssize(values) == rows * columns, "grid", "expected {} x {} values, got {}", rows, columns, values.size());
  return {rows, columns, std::move(values)};
}

std::vector<double> ids_of(std::span<const std::string_view> words) {
  constexpr std::array<std::string_view, 7> vocabulary{"</s>", "<unk>", "the", "cat", "sat", "on", "mat"};
  std::vector<double> ids;
  for (const std::string_view word : words) {
    const auto* const found = std::find(vocabulary.begin(), vocabulary.end(), word);
    ids.push_back(found == vocabulary.end() ? 1 : static_cast<double>(found - vocabulary.begin()));
  }
  return ids;
}

HeadOutput attend(const HeadInput& in, const HeadOptions& o) {
  Arena arena;
  Context c(arena);
  SeesWeights observer;
  c.set_observer(&observer);
  const Rows queries = Rows::rectangle(1, in.q.rows), keys = Rows::rectangle(1, in.k.rows);
  const Tensor y =
      ops::attention(c, {upload_grid(c, in.q), upload_grid(c, in.k), upload_grid(c, in.v)},
                     ops::spans_of(queries, keys), {.num_heads = o.heads, .mask = mask_of(c, in, o), .scale = o.scale});
  check(!observer.weights.empty(), "attend", "the attention showed no weights");
  return {grid(o.heads * in.q.rows, in.k.rows, {observer.weights.begin(), observer.weights.end()}), read_back(y)};
}

// A linear layer multiplies by the transpose of its matrix: the keys are one.
Grid scaled_scores(const HeadInput& in) {
  Arena arena;
  Context c(arena);
  nn::Parameters p;
  const nn::Linear keys(p, "keys", in.k.columns, in.k.rows, {.bias = false});
  p.allocate();
  p.set(c.kernels(), *keys.weight(), to_floats(in.k.values));
  p.refresh(c.kernels());
  const float scale = 1 / std::sqrt(static_cast<float>(in.q.columns));
  return read_back(ops::scale(c, keys.forward(c, upload_grid(c, in.q)), scale));
}

// One query of one value, 1, with the scale 1: the scores are the keys log P. Then d score_j is the gradient of key j, and a
// value v_j with dy = 1 gives dP_j = v_j.
std::vector<double> gradient_of_scores(std::span<const double> weights, std::span<const double> by_weights) {
  Arena arena;
  Context c(arena);
  Tape tape;
  Grads grads;
  const std::int64_t n = std::ssize(weights);
  std::vector<double> logs;
  for (const double p : weights) logs.push_back(std::log(p));
  const Tensor q = upload_grid(c, grid(1, 1, {1})), k = upload_grid(c, grid(n, 1, logs)),
               v = upload_grid(c, grid(n, 1, {by_weights.begin(), by_weights.end()}));
  tape.watch(k);
  c.set_tape(&tape);
  const Tensor y = ops::attention(c, {q, k, v}, ops::spans_of(Rows::rectangle(1, 1), Rows::rectangle(1, n)),
                                  {.num_heads = 1, .mask = ops::Mask::full(), .scale = 1});
  tape.backward(c, y, upload_grid(c, grid(1, 1, {1})), grads);
  return read_back(grads.get(k)).values;
}

HeadInput four_tokens() {
  return {grid(4, 2, {1, 0, 2, 1, 0, 2, -1, 1}), grid(4, 2, {1, 1, 2, 0, 0, 1, 1, -1}),
          grid(4, 2, {1, 0, 0, 1, 2, 2, -1, 3})};
}

HeadInput padded_source(Grid queries) {
  return {std::move(queries), grid(3, 2, {1, 0, 0, 2, 3, 3}), grid(3, 2, {1, 0, 0, 1, 5, 5})};
}

std::unique_ptr<model::Model> whole_decoder(std::int64_t d, std::int64_t d_ff) {
  const nlohmann::json config{{"model_type", "tril"}, {"architecture", "padded_decoder"},
                              {"vocab_size", 10'000}, {"d_model", d},
                              {"num_layers", 6},      {"num_heads", 8},
                              {"d_ff", d_ff},         {"pad_idx", 0}};
  return model::make(JsonObject(config, "config.json"));
}

Grid sinusoids(std::int64_t count, std::int64_t d, bool interleaved) {
  using Layout = nn::SinusoidalPositions::Layout;
  const std::vector<float> table =
      nn::SinusoidalPositions(d, interleaved ? Layout::interleaved : Layout::concatenated).table(count);
  return {count, d, {table.begin(), table.end()}};
}

std::vector<double> embedded(std::span<const double> embedding, std::int32_t position, bool scaled) {
  Arena arena;
  Context c(arena);
  const std::int64_t d = std::ssize(embedding);
  nn::Parameters p;
  const nn::Embedding table(p, "table", 1, d, {.scale = scaled ? std::sqrt(static_cast<float>(d)) : 1.0f});
  p.allocate();
  p.set(c.kernels(), *table.table(), to_floats(embedding));
  p.refresh(c.kernels());
  const std::vector<std::int32_t> ids{0}, positions{position};
  const nn::SinusoidalPositions sinusoid(d, nn::SinusoidalPositions::Layout::interleaved);
  return read_back(sinusoid.forward(c, table.forward(c, ids), positions)).values;
}

std::vector<double> rotated(std::array<double, 2> pair, std::int32_t position) {
  Arena arena;
  Context c(arena);
  Rows rows;
  rows.append(position + 1);
  const nn::RotaryPositions rotary({.dim = 2});
  std::vector<double> all;  // the same pair at each position
  for (std::int32_t i = 0; i <= position; ++i) all.insert(all.end(), pair.begin(), pair.end());
  const Tensor x = upload_grid(c, grid(position + 1, 2, all));
  return read_back(ops::rotary(c, x, rotary.rotation(c, rows), 1)).row(position);
}

std::vector<double> layer_normed(std::span<const double> x) {
  Arena arena;
  Context c(arena);
  const std::vector<double> ones(x.size(), 1), zeros(x.size(), 0);
  return read_back(ops::layer_norm(c, upload_row(c, x), upload_list(c, ones), upload_list(c, zeros), 1e-5f)).values;
}

std::vector<double> rms_normed(std::span<const double> x) {
  Arena arena;
  Context c(arena);
  const std::vector<double> ones(x.size(), 1);
  return read_back(ops::rms_norm(c, upload_row(c, x), upload_list(c, ones), 1e-5f)).values;
}

std::vector<double> fed_forward(std::span<const double> x, const SmallFeedForward& f) {
  Arena arena;
  Context c(arena);
  nn::Parameters p;
  const nn::Linear first(p, "first", f.w_1.rows, f.w_1.columns), second(p, "second", f.w_2.rows, f.w_2.columns);
  p.allocate();
  const auto set = [&](const nn::Linear& to, const Grid& w, const std::vector<double>& b) {
    std::vector<float> turned;  // the engine's matrices are [out, in]
    for (std::int64_t j = 0; j < w.columns; ++j)
      for (std::int64_t i = 0; i < w.rows; ++i) turned.push_back(static_cast<float>(w.at(i, j)));
    p.set(c.kernels(), *to.weight(), turned);
    p.set(c.kernels(), *to.bias(), to_floats(b));
  };
  set(first, f.w_1, f.b_1), set(second, f.w_2, f.b_2);
  p.refresh(c.kernels());
  Tensor inner = first.forward(c, upload_row(c, x));
  if (f.has_relu) inner = ops::activate(c, ops::Activation::relu, inner);
  return read_back(second.forward(c, inner)).values;
}

LossOfLogits cross_entropy_of(std::span<const double> logits, std::int32_t label, float smoothing) {
  Arena arena;
  Context c(arena);
  Tape tape;
  Grads grads;
  const Tensor x = upload_row(c, logits);
  tape.watch(x);
  c.set_tape(&tape);
  const std::vector<std::int32_t> labels{label};
  const Tensor loss = ops::cross_entropy(c, x, c.upload(labels), {.label_smoothing = smoothing});
  const auto value = static_cast<double>(host_copy<float>(loss)[0]);
  const std::vector<float> one{1};
  tape.backward(c, loss, c.upload<float>(one, {1}), grads);
  return {value, read_back(grads.get(x)).values};
}

}  // namespace tril::learn
