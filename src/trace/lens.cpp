#include "trace/lens.h"

#include <algorithm>
#include <cmath>

#include "base/as_size.h"

namespace tril::trace {
namespace {

using Row = std::vector<double>;

Row values_at(const Value& v, std::int64_t token) {
  const std::vector<float> values = v.floats();
  const std::int64_t width = v.count() / v.shape.at(0);
  return {values.begin() + token * width, values.begin() + (token + 1) * width};
}

Row difference(Row a, const Row& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] -= b[i];
  return a;
}
void add(Row& a, const Row& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
}
double norm(const Row& a) {
  double sum = 0;
  for (const double x : a) sum += x * x;
  return std::sqrt(sum);
}
double mean(const Row& a) {
  double sum = 0;
  for (const double x : a) sum += x;
  return sum / static_cast<double>(a.size());
}

// The end of the model as a linear map, with the divisor of its norm held: g(x) = A P x / s(x), where P may take the mean
// away. The norm's eps does not count for a long vector, so that A P x = g(k x) |P x| / sqrt(d) for large k, and s(h) follows
// from g(h).
class FrozenEnd {
 public:
  FrozenEnd(const Tail& tail, std::int64_t width, std::int32_t id, const Row& h) : tail_(tail), width_(width), id_(id) {
    const std::vector<double> probes = logits({Row(as_size(width), 0.0), Row(as_size(width), 1.0), h, scaled(h, 2)});
    bias_ = probes[0];
    takes_mean_ = std::abs(probes[1] - bias_) < 1e-4 * (1 + std::abs(bias_));
    is_linear_ = std::abs((probes[3] - bias_) - 2 * (probes[2] - bias_)) < 1e-3 * (1 + std::abs(probes[2] - bias_));
    logit_ = probes[2];
    if (is_linear_) return;
    const double unscaled = along({h})[0];  // A P h
    divisor_ = unscaled != 0 && logit_ != bias_ ? unscaled / (logit_ - bias_) : length(h);
  }
  double bias() const { return bias_; }
  double logit() const { return logit_; }
  /// What each row adds to the logit.
  std::vector<double> of(const std::vector<Row>& rows) const {
    std::vector<double> list = is_linear_ ? logits(rows) : along(rows);
    for (double& x : list) x = is_linear_ ? x - bias_ : x / divisor_;
    return list;
  }

 private:
  static constexpr double long_row = 1e3;  // root mean square: eps of 1e-5 is then 1e-11 of the square

  static Row scaled(Row a, double k) {
    for (double& x : a) x *= k;
    return a;
  }
  // Root mean square of P x.
  double length(const Row& x) const {
    Row y = x;
    const double m = takes_mean_ ? mean(x) : 0;
    for (double& v : y) v -= m;
    return norm(y) / std::sqrt(static_cast<double>(width_));
  }
  std::vector<double> along(const std::vector<Row>& rows) const {
    std::vector<Row> longer;
    for (const Row& r : rows) longer.push_back(length(r) > 0 ? scaled(r, long_row / length(r)) : r);
    std::vector<double> list = logits(longer);
    for (std::size_t i = 0; i < rows.size(); ++i) list[i] = (list[i] - bias_) * length(rows[i]);
    return list;
  }
  std::vector<double> logits(const std::vector<Row>& rows) const {
    std::vector<float> flat;
    for (const Row& r : rows)
      for (const double x : r) flat.push_back(static_cast<float>(x));
    const std::vector<float> all = tail_.logits(flat, width_, model::Capped::no);
    const std::size_t vocab = all.size() / rows.size();
    std::vector<double> list;
    for (std::size_t i = 0; i < rows.size(); ++i) list.push_back(static_cast<double>(all[i * vocab + as_size(id_)]));
    return list;
  }

  const Tail& tail_;
  std::int64_t width_;
  std::int32_t id_;
  double bias_ = 0, logit_ = 0, divisor_ = 1;
  bool takes_mean_ = false, is_linear_ = false;
};

// What each head of an attention adds to the stream at a token: what is missing without it.
std::vector<Row> heads_of(const model::Model& m, const Input& input, const std::string& part, const Trace& plain,
                          std::int64_t token) {
  std::vector<Row> rows;
  const Row all = values_at(plain.at(part + "out"), token);
  const std::int64_t heads = plain.at(part + "heads").shape.at(1);
  for (std::int64_t h = 0; h < heads; ++h) {
    const Edit edit = parse_edit(fmt::format("{}heads[{}]=zero", part, h));
    rows.push_back(difference(all, values_at(values_of(m, input, {part + "out"}, {&edit, 1}).at(part + "out"), token)));
  }
  return rows;
}

}  // namespace

std::vector<LensRow> logit_lens(const model::Model& m, const Input& input) {
  const Trace trace = values_of(m, input, {"decoder.stream", "decoder.*.output"});
  const std::int64_t bytes =
      std::ssize(trace.values()) * std::ssize(input.tokens) * m.vocab_size() * std::int64_t{sizeof(float)};
  if (bytes > Trace::default_bytes)
    fail_usage("lens", fmt::format("its logits would take {} bytes, more than {}", bytes, Trace::default_bytes),
               "give a shorter text");
  const Tail tail(m, input);
  std::vector<LensRow> rows;
  for (const Value& v : trace.values()) rows.push_back({v.name, tail.logits(v.floats(), v.shape.at(1))});
  return rows;
}

std::vector<float> rollout(const model::Model& m, const Input& input, const std::string& side) {
  const Trace trace = values_of(
      m, input, {side + ".*.self.weights", side + ".*.self.out", side + ".*.output", side + ".*.mamba.self.input"});
  std::vector<double> product;
  std::size_t T = 0;
  for (std::int64_t layer = 0; trace.find(fmt::format("{}.{}.output", side, layer)); ++layer) {
    if (!trace.find(fmt::format("{}.{}.self.out", side, layer))) continue;  // a feed-forward alone: the identity
    const Value* const v = trace.find(fmt::format("{}.{}.self.weights", side, layer));
    if (!v)
      fail_usage(fmt::format("{}.{}.self", side, layer), "has no attention weights",
                 "rollout needs them in every layer");
    if (trace.find(fmt::format("{}.{}.mamba.self.input", side, layer)))
      fail_usage(fmt::format("{}.{}", side, layer), "has a state space beside its attention",
                 "rollout needs layers that move values by attention weights alone");
    const std::vector<float> weights = v->floats();
    T = as_size(v->shape.at(1));
    const auto heads = as_size(v->shape.at(0));
    std::vector<double> mixed(T * T, 0.0);
    for (std::size_t i = 0; i < T; ++i) {
      for (std::size_t h = 0; h < heads; ++h)
        for (std::size_t k = 0; k < T; ++k)
          mixed[i * T + k] += static_cast<double>(weights[(h * T + i) * T + k]) / (2 * static_cast<double>(heads));
      mixed[i * T + i] += 0.5;
    }
    if (product.empty()) {
      product = std::move(mixed);
      continue;
    }
    std::vector<double> next(T * T, 0.0);
    for (std::size_t i = 0; i < T; ++i)
      for (std::size_t j = 0; j < T; ++j)
        for (std::size_t k = 0; k < T; ++k) next[i * T + k] += mixed[i * T + j] * product[j * T + k];
    product = std::move(next);
  }
  if (product.empty()) fail_usage(side, "has no attention weights", "rollout needs them");
  return {product.begin(), product.end()};
}

Attribution attribute(const model::Model& m, const Input& input, std::int64_t token, std::int32_t id) {
  check(token >= 0 && token < std::ssize(input.tokens), "token", "there is no token {}: the text has {}", token,
        input.tokens.size());
  check(id >= 0 && id < m.vocab_size(), "id", "{} is not in a vocabulary of {}", id, m.vocab_size());
  const Trace trace = values_of(m, input, {"decoder.stream", "decoder.*.out", "decoder.*.heads", "decoder.*.output"});
  Attribution a;
  std::vector<Row> rows;
  const auto keep = [&](const std::string& point, std::int64_t head, Row row) {
    a.parts.push_back({point, head, 0});
    rows.push_back(std::move(row));
  };
  keep("decoder.stream", -1, values_at(trace.at("decoder.stream"), token));
  Row sum = rows[0], last = sum;
  for (std::int64_t layer = 0; trace.find(fmt::format("decoder.{}.output", layer)); ++layer) {
    const std::string name = fmt::format("decoder.{}.", layer);
    for (const char* sublayer : {"self.", "cross.", "feed_forward."}) {
      const std::string part = name + sublayer;
      const Value* const out = trace.find(part + "out");
      if (!out) continue;
      add(sum, values_at(*out, token));
      if (!trace.find(part + "heads") || trace.at(part + "heads").shape.size() != 3) {
        keep(part + "out", -1, values_at(*out, token));
        continue;
      }
      std::int64_t head = 0;
      Row left = values_at(*out, token);
      const double whole = norm(left);
      for (Row& row : heads_of(m, input, part, trace, token)) {
        left = difference(std::move(left), row);
        keep(part + "heads", head++, std::move(row));
      }
      // What no head adds: biases, a second mixer, and what a norm after the sublayer changes.
      if (norm(left) > 1e-5 * whole) keep(part + "out", -1, std::move(left));
    }
    last = values_at(trace.at(name + "output"), token);
  }
  if (norm(difference(sum, last)) > 1e-3 * (norm(last) + norm(sum)))
    fail_usage("attribution", fmt::format("the residual stream of a {} model is not the sum of its parts", m.family()),
               "it needs a model that normalises before its sublayers, not after");
  const Tail tail(m, input);
  const FrozenEnd end(tail, std::ssize(last), id, last);
  a.bias = end.bias(), a.logit = end.logit(), a.rest = a.logit - a.bias;
  const std::vector<double> logits = end.of(rows);
  for (std::size_t i = 0; i < rows.size(); ++i) a.parts[i].logit = logits[i], a.rest -= logits[i];
  return a;
}

}  // namespace tril::trace
