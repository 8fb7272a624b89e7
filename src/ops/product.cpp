#include "ops/product.h"

#include "kern/gemm_bf16.h"
#include "ops/sizes.h"

namespace tril::ops {
namespace {

Tensor packed_space(const Context& c, std::size_t values) {
  return c.empty({static_cast<std::int64_t>(values)}, DType::bf16);
}

// A product of `rows` rows with W [out, in] or for it; `matrix` is what it reads or writes of W's size.
Work work_of(const Weight& w, const Tensor& matrix, const Tensor& dz) {
  const std::int64_t rows = dz.size(0), out = w.value.size(0), in = w.value.size(1);
  const double x_bytes = static_cast<double>(rows * in) * sizeof(float);
  return product_work(static_cast<bool>(w.packed), product_flops(rows, out, in), bytes_of(matrix, dz) + x_bytes);
}

}  // namespace

kern::QuantizedRight QuantizedMatrix::right() const {
  return {.n = z(shape[0]),
          .k = z(shape[1]),
          .bits = bits,
          .values = values.data<std::uint8_t>(),
          .multipliers = multipliers ? multipliers.data<std::uint8_t>() : nullptr,
          .scales = scales.data<float>(),
          .sums = sums.data<std::int32_t>()};
}

const Tensor& operand_of(const Weight& w) {
  if (w.quantized) return w.quantized.values;
  if (w.packed) return w.packed;
  return w.transposed ? w.transposed : w.value;
}

ProductSpace::ProductSpace(Context& c, const Weight& w, std::int64_t rows, bool tail) {
  const std::int64_t block = std::min(rows, block_rows);
  if (w.quantized)
    operand = c.empty({static_cast<std::int64_t>(kern::quantized_gemm_scratch(z(block), z(w.in()), w.quantized.bits))},
                      DType::u8);
  else if (w.packed)
    operand = packed_space(c, kern::packed_gemm_scratch);
  else if (tail)
    sums = c.empty({block, w.out()});
}

void product(Context& c, const Tensor& x, std::int64_t begin, std::int64_t rows, const Weight& w, const Tail& tail,
             const ProductSpace& space, float* y) {
  const std::int64_t out = w.out(), in = w.in();
  const float* const a = x.data<float>() + begin * x.row_stride();
  const kern::Kernels& k = c.kernels();
  if (w.quantized) {
    k.quantized_gemm({.m = z(rows),
                      .b = w.quantized.right(),
                      .a = a,
                      .a_stride = z(x.row_stride()),
                      .c = y,
                      .c_stride = z(out),
                      .bias = tail.bias,
                      .activation = tail.activation,
                      .residual = tail.residual,
                      .scratch = space.operand.data<std::uint8_t>()});
    return;
  }
  if (w.packed) {
    k.packed_gemm({.m = z(rows),
                   .n = z(out),
                   .k = z(in),
                   .a = a,
                   .a_stride = z(x.row_stride()),
                   .b = w.packed.data<std::uint16_t>(),
                   .c = y,
                   .c_stride = z(out),
                   .bias = tail.bias,
                   .activation = tail.activation,
                   .z = tail.z,
                   .dropout = tail.dropout,
                   .residual = tail.residual,
                   .stream = tail.stream,
                   .scratch = space.operand.data<std::uint16_t>()});
    return;
  }

  const bool direct = !w.transposed, finish_apart = tail.dropout.p > 0 || tail.residual;
  float* const at = finish_apart ? space.sums.data<float>() : y;
  float* const raw = tail.z ? tail.z : at;
  k.gemm({.m = z(rows),
          .n = z(out),
          .k = z(in),
          .a = a,
          .a_stride = z(x.row_stride()),
          .b = direct ? w.value.data<float>() : w.transposed.data<float>(),
          .b_stride = direct ? z(in) : z(out),
          .c = raw,
          .c_stride = z(out),
          .transpose_b = direct,
          .threads = c.threads()});
  const Activation f = tail.activation;
  if (tail.bias) k.bias_activate(tail.z ? Activation::none : f, raw, tail.bias, raw, z(rows), z(out));
  if (tail.z || (!tail.bias && f != Activation::none)) k.activate(f, raw, at, z(rows * out));
  if (tail.residual)
    k.add_dropout(tail.dropout, tail.residual, at, y, z(rows * out));
  else if (finish_apart)
    k.dropout(tail.dropout, at, y, z(rows * out));
}

void input_gradient(Context& c, const Tensor& dz, const Weight& w, float* dx, std::int64_t dx_stride, bool accumulate) {
  const std::int64_t N = dz.size(0), out = w.value.size(0), in = w.value.size(1);
  const auto time =
      c.timed_part("input gradient", [&] { return work_of(w, w.packed ? w.packed_transposed : w.value, dz); });
  if (w.packed) {
    const Tensor operand = packed_space(c, kern::packed_gemm_scratch);
    c.kernels().packed_gemm({.m = z(N),
                             .n = z(in),
                             .k = z(out),
                             .a = dz.data<float>(),
                             .a_stride = z(dz.row_stride()),
                             .b = w.packed_transposed.data<std::uint16_t>(),
                             .c = dx,
                             .c_stride = z(dx_stride),
                             .accumulate = accumulate,
                             .scratch = operand.data<std::uint16_t>()});
    return;
  }
  c.kernels().gemm({.m = z(N),
                    .n = z(in),
                    .k = z(out),
                    .a = dz.data<float>(),
                    .a_stride = z(dz.row_stride()),
                    .b = w.value.data<float>(),
                    .b_stride = z(in),
                    .c = dx,
                    .c_stride = z(dx_stride),
                    .accumulate = accumulate,
                    .threads = c.threads()});
}

void weight_gradient(Context& c, const Tensor& dz, const Tensor& x, const Weight& w, float* dw, bool accumulate) {
  const std::int64_t N = dz.size(0), out = w.value.size(0), in = w.value.size(1);
  const auto time = c.timed_part("weight gradient", [&] { return work_of(w, w.value, dz); });
  if (!w.packed) {
    c.kernels().gemm({.m = z(out),
                      .n = z(in),
                      .k = z(N),
                      .a = dz.data<float>(),
                      .a_stride = z(dz.row_stride()),
                      .b = x.data<float>(),
                      .b_stride = z(x.row_stride()),
                      .c = dw,
                      .c_stride = z(in),
                      .transpose_a = true,
                      .accumulate = accumulate,
                      .threads = c.threads()});
    return;
  }
  constexpr std::int64_t tokens = 2048;  // packed at a time: bounds the space, and dW is seldom added to
  const Tensor operand = packed_space(c, kern::packed_gemm_scratch);
  const Tensor right = packed_space(c, kern::packed_right_values(z(std::min(N, tokens)), z(in)));
  for (std::int64_t i = 0; i == 0 || i < N; i += tokens) {
    const std::int64_t n = std::min(tokens, N - i);
    c.kernels().pack_right({.b = x.data<float>() + i * x.row_stride(),
                            .stride = z(x.row_stride()),
                            .k = z(n),
                            .n = z(in),
                            .packed = right.data<std::uint16_t>()});
    c.kernels().packed_gemm({.m = z(out),
                             .n = z(in),
                             .k = z(n),
                             .a = dz.data<float>() + i * dz.row_stride(),
                             .a_stride = z(dz.row_stride()),
                             .transpose_a = true,
                             .b = right.data<std::uint16_t>(),
                             .c = dw,
                             .c_stride = z(in),
                             .accumulate = accumulate || i > 0,
                             .scratch = operand.data<std::uint16_t>()});
  }
}

}  // namespace tril::ops
