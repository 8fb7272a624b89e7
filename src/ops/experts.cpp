// expert_weights: w_tj = s p_te / Z_t,  p = softmax(l_t) or sigmoid(l_t),  Z_t = sum over t's experts of p, or 1
//   with u_tj = w_tj / s:   d p_te = s (dw_tj - sum_i u_ti dw_ti) / Z_t, or s dw_tj,  for t's experts, else 0
//   softmax: d l_te = p_te (d p_te - sum_e' p_te' d p_te')      sigmoid: d l_te = p_te (1 - p_te) d p_te
//   saves p and w. How experts were chosen has no gradient.
// combine_experts: y_t = sum_j w_tj r_tj      d r_tj = w_tj dy_t      d w_tj = dy_t . r_tj
//   saves w and the results r.
// load_balancing_loss: L = E sum_e f_e p_e,  p_e = 1/R sum_r P_re,  P = softmax(l),  f_e = choices of e / R
//   d l_re = E / R P_re (f_e - sum_i f_i P_ri) dL; saves that without dL. R: rows of all routers
//                                            [Jiang et al. 2024, section 2.1; Fedus et al. 2022, eq. 4-6]
#include "ops/experts.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "ops/loss.h"
#include "ops/sizes.h"
#include "ops/sparse_mixer.h"

namespace tril::ops {
namespace {

void check_routing(const Routing& r, std::int64_t experts) {
  check(std::ssize(r.choices) == experts && std::ssize(r.experts) == r.tokens * r.k, "experts",
        "a routing of {} experts for {}", r.choices.size(), experts);
}

// softmax of n values in place.
void softmax(float* x, std::size_t n) {
  const float highest = *std::max_element(x, x + n);
  float sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += x[i] = std::exp(x[i] - highest);
  for (std::size_t i = 0; i < n; ++i) x[i] /= sum;
}

}  // namespace

std::vector<std::int32_t> Routing::tokens_of(std::size_t expert) const {
  std::vector<std::int32_t> list = choices[expert];
  for (std::int32_t& choice : list) choice /= static_cast<std::int32_t>(k);
  return list;
}

namespace {

// p of all experts, row by row.
std::vector<float> scores_of(const Tensor& logits, RouterOptions::Score score) {
  std::vector<float> p = host_copy<float>(logits);
  const std::size_t E = z(logits.size(1));
  if (score == RouterOptions::Score::sigmoid)
    for (float& v : p) v = 1 / (1 + std::exp(-v));
  else
    for (std::size_t at = 0; at < p.size(); at += E) softmax(p.data() + at, E);
  return p;
}

// Experts of the groups that a token does not choose from get -inf.
void leave_out_groups(std::span<float> row, const RouterOptions& o) {
  const std::size_t groups = z(o.groups), size = row.size() / groups;
  std::vector<float> sums(groups);
  for (std::size_t g = 0; g < groups; ++g) {
    std::vector<float> group(row.begin() + static_cast<std::ptrdiff_t>(g * size),
                             row.begin() + static_cast<std::ptrdiff_t>((g + 1) * size));
    const std::size_t best = std::min(z(o.best_of_group), size);
    std::partial_sort(group.begin(), group.begin() + static_cast<std::ptrdiff_t>(best), group.end(), std::greater<>());
    sums[g] = std::accumulate(group.begin(), group.begin() + static_cast<std::ptrdiff_t>(best), 0.0f);
  }
  std::vector<std::size_t> order(groups);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return sums[a] > sums[b]; });
  for (std::size_t i = z(o.chosen_groups); i < groups; ++i)
    std::fill_n(row.begin() + static_cast<std::ptrdiff_t>(order[i] * size), size, -INFINITY);
}

}  // namespace

Routing route(const Tensor& logits, std::int64_t k, const RouterOptions& o, const Tensor& correction) {
  const auto [N, E] = logits.dims<2>("route: logits");
  check(k >= 1 && k <= E, "route", "{} of {} experts", k, E);
  check(o.groups >= 1 && E % o.groups == 0 && o.chosen_groups >= 1 && o.chosen_groups <= o.groups &&
            k <= E / o.groups * o.chosen_groups,
        "route", "{} of {} experts, from {} of {} groups", k, E, o.chosen_groups, o.groups);
  const bool by_logits = o.chosen_by_logits || o.score == RouterOptions::Score::sparse_mixer ||
                         (o.score == RouterOptions::Score::softmax && !correction && o.groups == 1);  // the same order
  std::vector<float> values = by_logits ? host_copy<float>(logits) : scores_of(logits, o.score);
  if (correction) {
    check_shape(correction, {E}, "route: correction");
    const std::vector<float> added = host_copy<float>(correction);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] += added[i % z(E)];
  }
  if (o.groups > 1)
    for (std::int64_t t = 0; t < N; ++t) leave_out_groups(std::span(values).subspan(z(t * E), z(E)), o);
  Routing r{.tokens = N, .k = k, .experts = {}, .choices = std::vector<std::vector<std::int32_t>>(z(E))};
  r.experts.reserve(z(N * k));
  std::vector<std::int32_t> order(z(E));
  for (std::int64_t t = 0; t < N; ++t) {
    const float* const row = values.data() + t * E;
    std::iota(order.begin(), order.end(), 0);
    std::partial_sort(order.begin(), order.begin() + k, order.end(),
                      [row](std::int32_t a, std::int32_t b) { return row[a] > row[b] || (row[a] == row[b] && a < b); });
    for (std::int64_t j = 0; j < k; ++j) {
      r.choices[z(order[z(j)])].push_back(static_cast<std::int32_t>(r.experts.size()));
      r.experts.push_back(order[z(j)]);
    }
  }
  return r;
}

namespace {

// True if the weights are a softmax over the logits of a token's chosen experts alone.
bool chosen_alone(const RouterOptions& o) {
  return o.score == RouterOptions::Score::softmax && o.normalised;
}

// dl of one token's dw, its experts' weights w and all experts' p.
void add_logit_gradient(const RouterOptions& o, std::span<const std::int32_t> experts, std::span<const float> w,
                        std::span<const float> dw, std::span<const float> p, std::span<float> dl) {
  float Z = o.normalised ? 0.0f : 1.0f, mean = 0;
  for (std::size_t j = 0; j < w.size() && o.normalised; ++j) {
    Z += p[z(experts[j])];
    mean += w[j] / o.scale * dw[j];
  }
  if (chosen_alone(o)) {
    for (std::size_t j = 0; j < w.size(); ++j) dl[z(experts[j])] = w[j] * (dw[j] - mean);
    return;
  }
  float inner = 0;  // of softmax: sum of p dp
  for (std::size_t j = 0; j < w.size(); ++j) {
    const std::size_t e = z(experts[j]);
    dl[e] = o.scale * (dw[j] - mean) / Z;
    inner += p[e] * dl[e];
  }
  const bool sigmoid = o.score == RouterOptions::Score::sigmoid;
  for (std::size_t e = 0; e < dl.size(); ++e) dl[e] = sigmoid ? p[e] * (1 - p[e]) * dl[e] : p[e] * (dl[e] - inner);
}

}  // namespace

Tensor expert_weights(Context& c, const Tensor& logits, const Routing& routing, const RouterOptions& o) {
  const auto [N, E] = logits.dims<2>("expert_weights: logits");
  check_routing(routing, E);
  check(N == routing.tokens, "expert_weights", "a routing of {} tokens for {}", routing.tokens, logits.shape());
  if (o.score == RouterOptions::Score::sparse_mixer) return sparse_mixer_weights(c, logits, routing, o.jitter);
  const std::int64_t k = routing.k;
  const bool of_chosen = chosen_alone(o);
  const std::vector<float> p = of_chosen ? host_copy<float>(logits) : scores_of(logits, o.score);
  std::vector<float> weights(z(N * k));
  for (std::int64_t t = 0; t < N; ++t) {
    const std::span<float> w = std::span(weights).subspan(z(t * k), z(k));
    for (std::size_t j = 0; j < w.size(); ++j) w[j] = p[z(t * E + routing.experts[z(t * k) + j])];
    if (of_chosen) softmax(w.data(), w.size());
    const float sum = o.normalised && !of_chosen ? std::accumulate(w.begin(), w.end(), 0.0f) : 1;
    for (float& v : w) v *= o.scale / sum;
  }
  Tensor y = c.upload<float>(weights, {N, k});
  if (c.tape())
    c.tape()->record("expert_weights", {&logits}, y,
                     [logits, o, p, experts = routing.experts, weights](Context& x, const Tensor& dy, Grads& d) {
                       const std::size_t choices = z(dy.size(1)), width = z(logits.size(1));
                       const std::vector<float> dw = host_copy<float>(dy);
                       std::vector<float> dl(z(logits.count()));
                       for (std::size_t t = 0; t < z(dy.size(0)); ++t)
                         add_logit_gradient(o, std::span(experts).subspan(t * choices, choices),
                                            std::span(weights).subspan(t * choices, choices),
                                            std::span(dw).subspan(t * choices, choices),
                                            std::span(p).subspan(t * width, width),
                                            std::span(dl).subspan(t * width, width));
                       pass_on(x, x.upload<float>(dl, logits.shape()), d.into(x, logits));
                     });
  return y;
}

Tensor combine_experts(Context& c, std::span<const Tensor> results, const Tensor& weights, const Routing& routing,
                       std::int64_t D) {
  check_routing(routing, std::ssize(results));
  check_shape(weights, {routing.tokens, routing.k}, "combine_experts: weights");
  for (std::size_t e = 0; e < results.size(); ++e) {
    if (routing.choices[e].empty()) continue;
    check_dense(results[e], DType::f32, "combine_experts: results");
    check_shape(results[e], {std::ssize(routing.choices[e]), D}, "combine_experts: results");
  }
  const std::vector<float> w = host_copy<float>(weights);
  Tensor y = c.zeros({routing.tokens, D});
  const auto time = c.timed("combine_experts", "forward",
                            [&] { return Work{.bytes = static_cast<double>(2 * routing.k + 1) * bytes_of(y)}; });
  for (std::size_t e = 0; e < results.size(); ++e)
    for (std::size_t i = 0; i < routing.choices[e].size(); ++i) {
      const std::int32_t choice = routing.choices[e][i];
      c.kernels().axpy(w[z(choice)], results[e].data<float>() + static_cast<std::int64_t>(i) * D,
                       y.data<float>() + choice / routing.k * D, z(D));
    }
  if (!c.tape()) return y;
  std::vector<Tensor> saved(results.begin(), results.end());
  std::vector<const Tensor*> inputs{&weights};
  for (const Tensor& r : saved) inputs.push_back(&r);
  c.tape()->record("combine_experts", inputs, y, [saved, weights, w, routing](Context& x, const Tensor& dy, Grads& d) {
    const std::int64_t width = dy.size(1);
    x.worked([&] { return Work{.bytes = static_cast<double>(3 * routing.k) * bytes_of(dy)}; });
    std::vector<float> dw(w.size());
    for (std::size_t e = 0; e < saved.size(); ++e) {
      const std::vector<std::int32_t>& choices = routing.choices[e];
      if (choices.empty()) continue;
      Tensor dr = x.empty(saved[e].shape());
      for (std::size_t i = 0; i < choices.size(); ++i) {
        const std::int64_t at = static_cast<std::int64_t>(i) * width;
        const float* const dy_t = dy.data<float>() + choices[i] / routing.k * width;
        dw[z(choices[i])] = x.kernels().dot(dy_t, saved[e].data<float>() + at, z(width));
        x.kernels().scale(w[z(choices[i])], dy_t, dr.data<float>() + at, z(width));
      }
      pass_on(x, dr, d.into(x, saved[e]));
    }
    pass_on(x, x.upload<float>(dw, weights.shape()), d.into(x, weights));
  });
  return y;
}

Tensor load_balancing_loss(Context& c, std::span<const Tensor> logits, std::int64_t k) {
  check(!logits.empty(), "load_balancing_loss", "there is no router");
  const std::int64_t E = logits[0].dims<2>("load_balancing_loss: logits")[1];
  std::int64_t R = 0;
  std::vector<double> f(z(E)), p(z(E));
  std::vector<std::vector<float>> P;
  for (const Tensor& l : logits) {
    check_shape(l, {l.size(0), E}, "load_balancing_loss: logits");
    R += l.size(0);
    const Routing routing = route(l, k);
    for (std::size_t e = 0; e < z(E); ++e) f[e] += static_cast<double>(routing.choices[e].size());
    std::vector<float>& rows = P.emplace_back(host_copy<float>(l));
    for (std::int64_t t = 0; t < l.size(0); ++t) softmax(rows.data() + t * E, z(E));
    for (std::size_t i = 0; i < rows.size(); ++i) p[i % z(E)] += static_cast<double>(rows[i]);
  }
  const double rows = static_cast<double>(R), factor = R > 0 ? static_cast<double>(E) / rows : 0;
  double loss = 0;
  for (std::size_t e = 0; e < z(E); ++e) {
    f[e] /= std::max(rows, 1.0);
    loss += factor * f[e] * p[e];
  }
  Tensor y = c.upload<float>({static_cast<float>(loss)});
  if (!c.tape()) return y;
  const std::vector<Tensor> saved(logits.begin(), logits.end());
  std::vector<const Tensor*> inputs;
  for (const Tensor& l : saved) inputs.push_back(&l);
  if (std::none_of(inputs.begin(), inputs.end(), [&](const Tensor* l) { return c.tape()->wants(*l); })) return y;
  for (std::vector<float>& softmaxes : P)  // becomes the gradient for dL = 1
    for (std::size_t t = 0; t < softmaxes.size(); t += z(E)) {
      double mean = 0;
      for (std::size_t e = 0; e < z(E); ++e) mean += f[e] * static_cast<double>(softmaxes[t + e]);
      for (std::size_t e = 0; e < z(E); ++e)
        softmaxes[t + e] = static_cast<float>(factor * static_cast<double>(softmaxes[t + e]) * (f[e] - mean));
    }
  c.tape()->record("load_balancing_loss", inputs, y,
                   [saved, gradients = std::move(P)](Context& x, const Tensor& dy, Grads& d) {
                     for (std::size_t i = 0; i < saved.size(); ++i) {
                       const Tensor dl = x.upload<float>(gradients[i], saved[i].shape());
                       scale_by(x, dl, dy);
                       pass_on(x, dl, d.into(x, saved[i]));
                     }
                   });
  return y;
}

}  // namespace tril::ops
