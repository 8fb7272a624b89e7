#include "nn/serving.h"

#include <algorithm>

#include "kern/gemm_bf16.h"
#include "kern/quantize_int4.h"

namespace tril::nn {
namespace {

constexpr std::int64_t panel = 32;  // columns of packed operands: boundaries at which matrices can be joined

bool is_quantized(Precision precision) {
  return precision == Precision::int8 || precision == Precision::int4;
}

// Takes consecutive pieces of a block; only counts if there is no block yet.
class Layout {
 public:
  explicit Layout(const TensorAt& at) : at_(at) {}
  Tensor take(std::int64_t count, DType type) {
    const std::size_t begin = bytes_;
    bytes_ += (static_cast<std::size_t>(count) * size_of(type) + 63) / 64 * 64;
    return at_ ? at_(begin, {count}, type) : Tensor();
  }
  std::size_t bytes() const { return bytes_; }

 private:
  const TensorAt& at_;
  std::size_t bytes_ = 0;
};

std::int64_t size(std::size_t n) {
  return static_cast<std::int64_t>(n);
}

// Allocates a matrix [out, in] in the form of `precision`.
ops::Weight place(Layout& layout, std::int64_t out, std::int64_t in, Precision precision, int bits) {
  const auto n = static_cast<std::size_t>(out), k = static_cast<std::size_t>(in);
  ops::Weight w;
  w.shape = {out, in};
  if (precision == Precision::fp32) {
    if (const Tensor t = layout.take(out * in, DType::f32)) w.transposed = t.reshape({in, out});
  } else if (precision == Precision::bf16) {
    w.packed = layout.take(size(kern::packed_right_values(k, n)), DType::bf16);
  } else {
    ops::QuantizedMatrix& q = w.quantized;
    q.shape = w.shape;
    q.bits = bits;
    q.values = layout.take(size(kern::int8_packed_bytes(n, k, bits)), DType::u8);
    if (bits == 4) q.multipliers = layout.take(size(kern::int4_multipliers(n, k)), DType::u8);
    q.scales = layout.take(size(kern::int8_columns(n)), DType::f32);
    q.sums = layout.take(size(kern::int8_columns(n)), DType::i32);
  }
  return w;
}

// Rows [begin, end) of a packed matrix; both are multiples of a panel.
ops::Weight part_of(const ops::Weight& all, std::int64_t begin, std::int64_t end) {
  const auto b = static_cast<std::size_t>(begin), n = static_cast<std::size_t>(end - begin),
             k = static_cast<std::size_t>(all.in());
  const auto part = [](const Tensor& t, std::size_t from, std::size_t count) {
    return t ? t.rows(size(from), size(from + count)) : Tensor();
  };
  const ops::QuantizedMatrix& q = all.quantized;
  ops::Weight w;
  w.shape = {end - begin, all.in()};
  w.packed = part(all.packed, kern::packed_right_values(k, b), kern::packed_right_values(k, n));
  w.quantized = {w.shape,
                 q.bits,
                 part(q.values, kern::int8_packed_bytes(b, k, q.bits), kern::int8_packed_bytes(n, k, q.bits)),
                 part(q.multipliers, kern::int4_multipliers(b, k), kern::int4_multipliers(n, k)),
                 part(q.scales, b, n),
                 part(q.sums, b, n)};
  return w;
}

// True if a stack's matrices can be stored one below the other.
bool fits(const Stack& s, Precision precision) {
  if (precision == Precision::fp32) return false;
  const auto fits_below = [&](const Parameter* p) {
    return p->shape[0] % panel == 0 && p->shape[1] == s.weights[0]->shape[1] && p->hidden_matrix && !p->lora;
  };
  return std::all_of(s.weights.begin(), s.weights.end(), fits_below) &&
         std::find(s.biases.begin(), s.biases.end(), nullptr) == s.biases.end();
}

// Places the one matrix of a stack, its parts and the forms of its weights.
std::vector<Stack::Part> place_stack(Layout& layout, const Stack& s, Precision precision, ServingMatrices& matrices) {
  std::int64_t out = 0;
  for (const Parameter* p : s.weights) out += p->shape[0];
  const Parameter& first = *s.weights[0];
  const ops::Weight all = place(layout, out, first.shape[1], precision, quantized_bits(first, precision));
  const Tensor bias = s.biases.empty() ? Tensor() : layout.take(out, DType::f32);
  std::vector<Stack::Part> from;
  std::int64_t begin = 0;
  for (const Parameter* p : s.weights) {
    const std::int64_t end = begin + p->shape[0];
    matrices.forms[p] = part_of(all, begin, end);
    from.push_back({part_of(all, begin, out), bias ? bias.rows(begin, out) : Tensor()});
    begin = end;
  }
  return from;
}

// Packs quantised rows, which carry their layout, into the form that products read.
void pack(const kern::Kernels& kernels, Parameter& p, const kern::PackQuantized& rows, std::span<const float> scales) {
  ops::QuantizedMatrix& q = p.quantized;
  kern::PackQuantized all = rows;
  all.n = static_cast<std::size_t>(p.shape[0]), all.k = static_cast<std::size_t>(p.shape[1]), all.bits = q.bits;
  all.values = q.values.data<std::uint8_t>();
  all.multipliers = q.multipliers ? q.multipliers.data<std::uint8_t>() : nullptr;
  all.sums = q.sums.data<std::int32_t>();
  kernels.pack_quantized(all);
  host_write<float>(q.scales.rows(0, p.shape[0]), scales);
}

}  // namespace

int quantized_bits(const Parameter& p, Precision precision) {
  if (!is_quantized(precision) || p.shape.rank() != 2 || !(p.in_products || p.gathered)) return 0;
  return precision == Precision::int4 && p.hidden_matrix ? 4 : 8;
}

bool is_kept_in_floats(const Parameter& p, Precision precision) {
  if (p.shape.rank() != 2) return true;
  if (is_quantized(precision)) return !p.in_products && !p.gathered;
  return !p.in_products || p.gathered;
}

ServingMatrices lay_out_matrices(const std::deque<Parameter>& list, const std::deque<Stack>& stacks,
                                 Precision precision, const TensorAt& at) {
  Layout layout(at);
  ServingMatrices matrices;
  for (const Stack& s : stacks) {
    std::vector<Stack::Part>& from = matrices.stacks.emplace_back();
    if (fits(s, precision)) from = place_stack(layout, s, precision, matrices);
  }
  for (const Parameter& p : list) {
    const bool has_form = p.shape.rank() == 2 && (p.in_products || (p.gathered && is_quantized(precision)));
    if (has_form && !matrices.forms.contains(&p))
      matrices.forms[&p] = place(layout, p.shape[0], p.shape[1], precision, quantized_bits(p, precision));
  }
  matrices.bytes = layout.bytes();
  return matrices;
}

void fill_forms(const kern::Kernels& kernels, Parameter& p, std::span<const float> values) {
  const auto n = static_cast<std::size_t>(p.shape[0]), k = static_cast<std::size_t>(p.shape[1]);
  if (p.transposed) kernels.transpose(values.data(), p.transposed.data<float>(), n, k);
  if (p.packed)
    kernels.pack_right({.b = values.data(),
                        .stride = k,
                        .k = k,
                        .n = n,
                        .transposed = true,
                        .packed = p.packed.data<std::uint16_t>()});
  if (!p.quantized) return;
  std::vector<float> scales(n);
  if (p.quantized.bits == 8) {
    const std::size_t row = kern::int8_depth(k);
    std::vector<std::int8_t> rows(n * row);
    kernels.quantize_rows(values.data(), k, n, k, rows.data(), scales.data());
    pack(kernels, p, {.rows = reinterpret_cast<const std::uint8_t*>(rows.data()), .row_bytes = row}, scales);
  } else {
    const std::size_t row = (k + 1) / 2;
    std::vector<std::uint8_t> rows(n * row), multipliers(n * ((k + kern::int4_group - 1) / kern::int4_group));
    kern::quantize_int4(values.data(), k, n, k, rows.data(), multipliers.data(), scales.data());
    pack(kernels, p, {.rows = rows.data(), .row_bytes = row, .row_multipliers = multipliers.data()}, scales);
  }
}

void fill_forms(const kern::Kernels& kernels, Parameter& p, const QuantizedRows& q) {
  const auto n = static_cast<std::size_t>(p.shape[0]), k = static_cast<std::size_t>(p.shape[1]);
  const std::size_t row = q.bits == 8 ? k : (k + 1) / 2;
  check(p.quantized && p.quantized.bits == q.bits, p.name, "cannot be served with {} bits", q.bits);
  check(q.rows.size() == n * row && q.scales.size() == n, p.name, "{} bytes and {} scales for {}", q.rows.size(),
        q.scales.size(), p.shape);
  check(q.bits == 8 || q.multipliers.size() == n * ((k + kern::int4_group - 1) / kern::int4_group), p.name,
        "{} multipliers for {}", q.multipliers.size(), p.shape);
  pack(kernels, p, {.rows = q.rows.data(), .row_bytes = row, .row_multipliers = q.multipliers.data()}, q.scales);
}

}  // namespace tril::nn
