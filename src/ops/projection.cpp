#include "ops/projection.h"

#include "ops/loss.h"

namespace tril::ops {

void check_projection(const Tensor& x, const Weight& w, const Tensor& b) {
  const auto [N, D] = x.dims<2>("projection: x");
  const auto [V, D_w] = w.value.dims<2>("projection: W");
  check_dense(x, DType::f32, "projection: x");
  check(D == D_w, "projection", "x {} and W {} do not agree", x.shape(), w.value.shape());
  if (b) check(b.count() == V, "projection", "b {} for a vocabulary of {}", b.shape(), V);
}

void project(Context& c, const Tensor& x, const Weight& w, const Tensor& b, const Tensor& logits, std::int64_t begin) {
  const std::int64_t rows = logits.size(0), V = logits.size(1), D = x.size(1);
  const bool direct = !w.transposed;
  c.kernels().gemm({.m = z(rows),
                    .n = z(V),
                    .k = z(D),
                    .a = x.data<float>() + begin * D,
                    .a_stride = z(D),
                    .b = direct ? w.value.data<float>() : w.transposed.data<float>(),
                    .b_stride = direct ? z(D) : z(V),
                    .c = logits.data<float>(),
                    .c_stride = z(V),
                    .transpose_b = direct,
                    .threads = c.threads()});
  if (b)
    c.kernels().bias_activate(Activation::none, logits.data<float>(), b.data<float>(), logits.data<float>(), z(rows),
                              z(V));
}

ProjectionGradients::ProjectionGradients(Context& c, const Tensor& x, const Weight& w, const Tensor& b) {
  const auto wanted = [&](const Tensor& value) { return c.tape() && c.tape()->wants(value); };
  if (wanted(x)) dx = c.empty(x.shape());
  if (wanted(w.value)) dw = x.size(0) > 0 ? c.empty(w.value.shape()) : c.zeros(w.value.shape());
  if (wanted(b)) db = c.zeros({w.value.size(0)});
}

void project_back(Context& c, const Tensor& x, const Weight& w, const Tensor& dl, std::int64_t begin,
                  ProjectionGradients& gradients) {
  const std::int64_t rows = dl.size(0), V = dl.size(1), D = x.size(1);
  const float* const d_logits = dl.data<float>();
  if (gradients.db) c.kernels().column_sums(d_logits, gradients.db.data<float>(), z(rows), z(V));
  if (gradients.dx)
    c.kernels().gemm({.m = z(rows),
                      .n = z(D),
                      .k = z(V),
                      .a = d_logits,
                      .a_stride = z(V),
                      .b = w.value.data<float>(),
                      .b_stride = z(D),
                      .c = gradients.dx.data<float>() + begin * D,
                      .c_stride = z(D),
                      .threads = c.threads()});
  if (gradients.dw)
    c.kernels().gemm({.m = z(V),
                      .n = z(D),
                      .k = z(rows),
                      .a = d_logits,
                      .a_stride = z(V),
                      .b = x.data<float>() + begin * D,
                      .b_stride = z(D),
                      .c = gradients.dw.data<float>(),
                      .c_stride = z(D),
                      .transpose_a = true,
                      .accumulate = gradients.begun,
                      .threads = c.threads()});
  gradients.begun = true;
}

void record_projected(Context& c, std::string_view name, const Tensor& y, const Tensor& x, const Weight& w,
                      const Tensor& b, const ProjectionGradients& gradients) {
  if (!c.tape()) return;
  c.tape()->record(name, {&x, &w.value, &b}, y,
                   [x, W = w.value, b, dx = gradients.dx, dw = gradients.dw, db = gradients.db](
                       Context& k, const Tensor& dy, Grads& d) {
                     const auto give = [&](const Tensor& value, const Tensor& gradient) {
                       if (!gradient) return;
                       scale_by(k, gradient, dy);
                       pass_on(k, gradient, d.into(k, value));
                     };
                     give(x, dx), give(W, dw), give(b, db);
                   });
}

}  // namespace tril::ops
