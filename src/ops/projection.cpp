#include "ops/projection.h"

#include "ops/loss.h"
#include "ops/product.h"
#include "ops/sizes.h"

namespace tril::ops {

void check_projection(const Projected& p) {
  const auto [N, D] = p.x.dims<2>("projection: x");
  const std::int64_t V = p.w.out(), D_w = p.w.in();
  check_dense(p.x, DType::f32, "projection: x");
  check(D == D_w, "projection", "x {} and W {} do not agree", p.x.shape(), p.w.shape);
  if (p.b) check(p.b.count() == V, "projection", "b {} for a vocabulary of {}", p.b.shape(), V);
}

void project(Context& c, const Projected& p, Tensor logits, std::int64_t begin) {
  static_assert(chunk_rows <= block_rows);
  const auto time = c.timed_part("logits", [&] {
    return product_work(p.w.is_bf16(), product_flops(logits.size(0), logits.size(1), p.x.size(1)),
                        bytes_of(p.x.rows(begin, begin + logits.size(0)), operand_of(p.w), p.b, logits));
  });
  ProductSpace space(c, p.w, logits.size(0), false);
  product(c, p.x.rows(begin, begin + logits.size(0)), p.w,
          {.y = logits.data<float>(), .bias = p.b ? p.b.data<float>() : nullptr}, space);
}

Tensor cap(Context& c, float softcap, Tensor logits, bool gradients) {
  if (softcap == 0) return {};
  float* const l = logits.data<float>();
  c.kernels().softcap(softcap, l, l, z(logits.count()));
  if (!gradients) return {};
  Tensor capped = c.empty(logits.shape());
  c.kernels().copy(l, capped.data<float>(), logits.bytes());
  return capped;
}

void uncap(Context& c, float softcap, const Tensor& capped, Tensor dl) {
  if (!capped) return;
  float* const d = dl.data<float>();
  c.kernels().softcap_backward(softcap, capped.data<float>(), d, d, false, z(dl.count()));
}

ProjectionGradients::ProjectionGradients(Context& c, const Projected& p) {
  const auto wanted = [&](const Tensor& value) { return c.tape() && c.tape()->wants(value); };
  const auto& [x, w, b] = p;
  if (wanted(x)) dx = c.empty(x.shape());
  if (wanted(w.value)) dw = x.size(0) > 0 ? c.empty(w.value.shape()) : c.zeros(w.value.shape());
  if (wanted(b)) db = c.zeros({w.value.size(0)});
}

void project_back(Context& c, const Projected& p, const Tensor& dl, std::int64_t begin,
                  ProjectionGradients& gradients) {
  const Tensor& x = p.x;
  const std::int64_t rows = dl.size(0), V = dl.size(1);
  if (gradients.db) c.kernels().column_sums(dl.data<float>(), gradients.db.data<float>(), z(rows), z(V));
  if (gradients.dx) input_gradient(c, dl, p.w, {gradients.dx.rows(begin, begin + rows), /*accumulate=*/false});
  if (gradients.dw) weight_gradient(c, dl, x.rows(begin, begin + rows), p.w, {gradients.dw, gradients.begun});
  gradients.begun = true;
}

void record_projected(Context& c, std::string_view name, const Tensor& y, const Projected& p,
                      const ProjectionGradients& gradients) {
  if (!c.tape()) return;
  c.tape()->record(name, {&p.x, &p.w.value, &p.b}, y,
                   [x = p.x, W = p.w.value, b = p.b, dx = gradients.dx, dw = gradients.dw, db = gradients.db](
                       Context& k, const Tensor& dy, Grads& d) {
                     const auto give = [&](const Tensor& value, const Tensor& gradient) {
                       if (!gradient) return;
                       k.worked([&] { return Work{.bytes = bytes_of(gradient, gradient)}; });
                       scale_by(k, gradient, dy);
                       pass_on(k, gradient, d.into(k, value));
                     };
                     give(x, dx), give(W, dw), give(b, db);
                   });
}

}  // namespace tril::ops
