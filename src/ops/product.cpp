#include "ops/product.h"

#include "kern/gemm_bf16.h"
#include "ops/sizes.h"

namespace tril::ops {
namespace {

// A range of columns of a product's result.
struct Columns {
  std::int64_t first, count;
};

template <class T>
T* from(T* p, std::int64_t offset) {
  return p ? p + offset : nullptr;
}

// The work of one product with `rows` rows and a weight W [out, in]; `matrix` is the operand or result of W's size.
Work work_of(const Weight& w, const Tensor& matrix, const Tensor& dz) {
  const std::int64_t rows = dz.size(0), out = w.value.size(0), in = w.value.size(1);
  const double x_bytes = static_cast<double>(rows * in) * sizeof(float);
  return product_work(static_cast<bool>(w.packed), product_flops(rows, out, in), bytes_of(matrix, dz) + x_bytes);
}

}  // namespace

kern::QuantizedRight QuantizedMatrix::right() const {
  if (format != kern::BlockFormat::none)
    return {.n = z(shape[0]), .k = z(shape[1]), .format = format, .values = values.data<std::uint8_t>()};
  return {.n = z(shape[0]),
          .k = z(shape[1]),
          .bits = bits,
          .values = values.data<std::uint8_t>(),
          .multipliers = multipliers ? multipliers.data<std::uint8_t>() : nullptr,
          .scales = scales.data<float>(),
          .sums = sums.data<std::int32_t>()};
}

kern::CompactRight CompactMatrix::right(std::int64_t in, std::int64_t rows) const {
  const kern::CompactRight all{tiles.data<std::uint8_t>(), tables.data<std::uint8_t>(), rest.data<std::uint8_t>()};
  return all.from_tile(kern::compact_tiles(z(in), z(rows)));
}

const Tensor& operand_of(const Weight& w) {
  if (w.quantized) return w.quantized.values;
  if (w.compact) return w.compact.tiles;
  if (w.packed) return w.packed;
  return w.transposed ? w.transposed : w.value;
}

ProductSpace::ProductSpace(Context& c, const Weight& w, std::int64_t rows, bool tail) {
  const std::int64_t block = std::min(rows, block_rows), threads = is_shared(c, w) ? c.threads() : 1;
  const auto space = [&](std::size_t values, DType dtype) {
    return c.empty({threads, static_cast<std::int64_t>((values + 63) / 64 * 64)},
                   dtype);  // no cache line of two threads
  };
  if (w.quantized)
    operand = space(kern::quantized_gemm_scratch(z(block), w.quantized.right()), DType::u8);
  else if (w.is_bf16())
    operand = space(kern::packed_gemm_scratch, DType::bf16);
  else if (tail)
    sums = c.empty({block, w.out()});
}

namespace {

void quantized_product(const Context& c, std::size_t rows, const Weight& w, const Tail& tail, Columns of,
                       kern::QuantizedGemm g) {
  g.m = rows;
  g.b = w.quantized.right().columns(z(of.first), z(of.count));
  g.c += of.first, g.c_stride = z(w.out());
  g.bias = from(tail.bias, of.first);
  g.activation = tail.activation;
  g.residual = from(tail.residual, of.first);
  c.kernels().quantized_gemm(g);
}

void packed_product(const Context& c, std::size_t rows, const Weight& w, const Tail& tail, Columns of,
                    kern::PackedGemm g) {
  g.m = rows, g.n = z(of.count), g.k = z(w.in());
  if (w.compact)
    g.compact = w.compact.right(w.in(), of.first);
  else
    g.b = w.packed.data<std::uint16_t>() + kern::packed_right_values(g.k, z(of.first));
  g.c += of.first, g.c_stride = z(w.out());
  g.bias = from(tail.bias, of.first);
  g.activation = tail.activation;
  g.z = from(tail.z, of.first);
  g.dropout = tail.dropout;
  g.residual = from(tail.residual, of.first);
  g.stream = tail.stream;
  c.kernels().packed_gemm(g);
}

// x W^T only, without the tail.
void float_product(const Context& c, std::size_t rows, const Weight& w, Columns of, kern::Gemm g) {
  const bool direct = !w.transposed;
  g.m = rows, g.n = z(of.count), g.k = z(w.in());
  g.b = direct ? w.value.data<float>() + of.first * w.in() : w.transposed.data<float>() + of.first;
  g.b_stride = z(direct ? w.in() : w.out());
  g.transpose_b = direct;
  g.c += of.first, g.c_stride = z(w.out());
  c.kernels().gemm(g);
}

}  // namespace

void product(Context& c, const Tensor& x, const Weight& w, const Tail& tail, ProductSpace& space) {
  const std::int64_t rows = x.size(0), out = w.out();
  const float* const a = x.data<float>();
  float* const y = tail.y;
  const std::size_t a_stride = z(x.row_stride());
  float* const at = space.sums ? space.sums.data<float>() : y;
  float* const raw = tail.z ? tail.z : at;

  const auto columns = [&](int member, Columns of) {
    if (w.quantized)
      quantized_product(c, z(rows), w, tail, of,
                        {.a = a, .a_stride = a_stride, .c = y, .scratch = space.operand_of<std::uint8_t>(member)});
    else if (w.is_bf16())
      packed_product(c, z(rows), w, tail, of,
                     {.a = a, .a_stride = a_stride, .c = y, .scratch = space.operand_of<std::uint16_t>(member)});
    else
      float_product(c, z(rows), w, of, {.a = a, .a_stride = a_stride, .c = raw});
  };
  if (is_shared(c, w) && tail.dropout.p == 0)  // the dropout index counts through whole rows
    c.share_out(panels_of(out), [&](int member, std::int64_t first, std::int64_t last) {
      columns(member, {first * panel_columns, std::min(out, last * panel_columns) - first * panel_columns});
    });
  else
    columns(0, {0, out});
  if (w.quantized || w.is_bf16()) return;

  const kern::Kernels& k = c.kernels();
  const Activation f = tail.activation;
  if (tail.bias) k.bias_activate(tail.z ? Activation::none : f, raw, tail.bias, raw, z(rows), z(out));
  if (tail.z || (!tail.bias && f != Activation::none)) k.activate(f, raw, at, z(rows * out));
  if (tail.residual)
    k.add_dropout(tail.dropout, tail.residual, at, y, z(rows * out));
  else if (tail.dropout.p > 0)
    k.dropout(tail.dropout, at, y, z(rows * out));
}

void input_gradient(Context& c, const Tensor& dz, const Weight& w, Grads::Target dx) {
  const std::int64_t N = dz.size(0), out = w.value.size(0), in = w.value.size(1);
  const auto time =
      c.timed_part("input gradient", [&] { return work_of(w, w.packed ? w.packed_transposed : w.value, dz); });
  if (w.packed) {
    Tensor operand = c.empty_vector(kern::packed_gemm_scratch, DType::bf16);
    c.kernels().packed_gemm({.m = z(N),
                             .n = z(in),
                             .k = z(out),
                             .a = dz.data<float>(),
                             .a_stride = z(dz.row_stride()),
                             .b = w.packed_transposed.data<std::uint16_t>(),
                             .c = dx.grad.data<float>(),
                             .c_stride = z(dx.grad.row_stride()),
                             .accumulate = dx.accumulate,
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
                    .c = dx.grad.data<float>(),
                    .c_stride = z(dx.grad.row_stride()),
                    .accumulate = dx.accumulate});
}

void weight_gradient(Context& c, const Tensor& dz, const Tensor& x, const Weight& w, Grads::Target dw) {
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
                      .c = dw.grad.data<float>(),
                      .c_stride = z(in),
                      .transpose_a = true,
                      .accumulate = dw.accumulate});
    return;
  }
  constexpr std::int64_t tokens = 2048;  // packed at a time: bounds the scratch, while dW is added to only a few times
  Tensor operand = c.empty_vector(kern::packed_gemm_scratch, DType::bf16);
  Tensor right = c.empty_vector(kern::packed_right_values(z(std::min(N, tokens)), z(in)), DType::bf16);
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
                             .c = dw.grad.data<float>(),
                             .c_stride = z(in),
                             .accumulate = dw.accumulate || i > 0,
                             .scratch = operand.data<std::uint16_t>()});
  }
}

}  // namespace tril::ops
