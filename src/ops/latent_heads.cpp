// queries_to_latents: q_h' = [r_h, u_h W_h]      latents_to_values: o_h = y_h V_h^T      [DeepSeek-V2, 2024, section 2.1.3]
//   q_h = [r_h, u_h]   W_h [own, rank]   V_h [d_v, rank]. No gradient.
#include "ops/latent_heads.h"

#include "ops/sizes.h"

namespace tril::ops {
namespace {

void check_matrix(const Tensor& w, const LatentHeads& s) {
  check_dense(w, DType::f32, "latent attention: the matrix of keys and values");
  check_shape(w, {s.heads * (s.own + s.d_v), s.rank}, "latent attention: the matrix of keys and values");
}

}  // namespace

Tensor queries_to_latents(Context& c, const Tensor& q, const Tensor& w, const LatentHeads& s) {
  const std::int64_t N = q.dims<2>("queries_to_latents: q")[0], from = s.rotated + s.own, to = s.rotated + s.rank;
  check_dense(q, DType::f32, "queries_to_latents: q");
  check_shape(q, {N, s.heads * from}, "queries_to_latents: q");
  check_matrix(w, s);
  Tensor y = c.empty({N, s.heads * to});
  const auto time = c.timed("queries_to_latents", "forward", [&] {
    return Work{.flops = product_flops(N, s.heads * s.rank, s.own), .bytes = bytes_of(q, y) + bytes_of(w) / 2};
  });
  for (std::int64_t h = 0; h < s.heads && N > 0; ++h) {
    const Tensor own = q.columns(h * from, (h + 1) * from);
    Tensor latent = y.columns(h * to, (h + 1) * to);
    c.kernels().copy_rows(own.data<float>(), z(own.row_stride()), latent.data<float>(), z(latent.row_stride()), z(N),
                          z(s.rotated));
    c.kernels().gemm({.m = z(N),
                      .n = z(s.rank),
                      .k = z(s.own),
                      .a = own.data<float>() + s.rotated,
                      .a_stride = z(own.row_stride()),
                      .b = w.data<float>() + h * s.own * s.rank,
                      .b_stride = z(s.rank),
                      .c = latent.data<float>() + s.rotated,
                      .c_stride = z(latent.row_stride())});
  }
  return y;
}

Tensor latents_to_values(Context& c, const Tensor& y, const Tensor& w, const LatentHeads& s) {
  const std::int64_t N = y.dims<2>("latents_to_values: y")[0];
  check_dense(y, DType::f32, "latents_to_values: y");
  check_shape(y, {N, s.heads * s.rank}, "latents_to_values: y");
  check_matrix(w, s);
  Tensor out = c.empty({N, s.heads * s.d_v});
  const auto time = c.timed("latents_to_values", "forward", [&] {
    return Work{.flops = product_flops(N, s.heads * s.d_v, s.rank), .bytes = bytes_of(y, out) + bytes_of(w) / 2};
  });
  for (std::int64_t h = 0; h < s.heads && N > 0; ++h)
    c.kernels().gemm({.m = z(N),
                      .n = z(s.d_v),
                      .k = z(s.rank),
                      .a = y.data<float>() + h * s.rank,
                      .a_stride = z(y.row_stride()),
                      .b = w.data<float>() + (s.heads * s.own + h * s.d_v) * s.rank,
                      .b_stride = z(s.rank),
                      .c = out.data<float>() + h * s.d_v,
                      .c_stride = z(out.row_stride()),
                      .transpose_b = true});
  return out;
}

}  // namespace tril::ops
