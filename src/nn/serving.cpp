#include "nn/serving.h"

#include <algorithm>
#include <cassert>
#include <unordered_set>

#include "base/as_size.h"
#include "kern/gemm_bf16.h"
#include "kern/quantize_int4.h"

namespace tril::nn {
namespace {

constexpr std::size_t page = 64 << 10;  // bytes: the largest of usual systems
constexpr std::int64_t panel = 32;      // columns of packed operands: boundaries at which matrices can be joined

bool is_quantized(Precision precision) {
  return precision == Precision::int8 || precision == Precision::int4 || precision == Precision::blocks;
}

std::int64_t size(std::size_t n) {
  return static_cast<std::int64_t>(n);
}

// Takes consecutive sections of a block.
class SectionTaker {
 public:
  explicit SectionTaker(std::size_t begin) : end_(begin) {}
  Section take(std::int64_t count, DType type) {
    const Section s{end_, count, type};
    end_ += (as_size(count) * size_of(type) + 63) / 64 * 64;
    return s;
  }
  std::size_t end() const { return end_; }

 private:
  std::size_t end_;
};

// The sections of a matrix with the rows of p, or of several such matrices. `rest` is placed later; only its size is set.
MatrixSections sections_of(SectionTaker& block, std::int64_t out, const Parameter& p, ServingForm form) {
  const Precision precision = form.precision;
  const std::int64_t in = p.shape[1];
  const auto n = as_size(out), k = as_size(in);
  const int bits = quantized_bits(p, precision);
  MatrixSections m{.out = out, .in = in, .bits = bits, .format = served_blocks(p, precision)};
  if (m.format != kern::BlockFormat::none) {
    m.values = block.take(size(kern::block_packed_bytes(n, k, m.format)), DType::u8);
  } else if (precision == Precision::fp32) {
    m.transposed = block.take(out * in, DType::f32);
  } else if (precision == Precision::bf16 && form.compact) {
    const std::size_t tiles = kern::compact_tiles(k, n);
    m.tiles = block.take(size(tiles * kern::compact_tile_bytes), DType::u8);
    m.tables = block.take(size(tiles * kern::compact_table_bytes), DType::u8);
    m.rest = {0, size(tiles * kern::compact_rest_bytes), DType::u8};
  } else if (precision == Precision::bf16) {
    m.packed = block.take(size(kern::packed_right_values(k, n)), DType::bf16);
  } else {
    check(k <= kern::int8_most_width, p.name,
          "{} inputs, but sums of 8-bit products hold at most {}: serve it in bf16 or fp32", k, kern::int8_most_width);
    m.values = block.take(size(kern::int8_packed_bytes(n, k, bits)), DType::u8);
    if (bits == 4) m.multipliers = block.take(size(kern::int4_multipliers(n, k)), DType::u8);
    m.scales = block.take(size(kern::int8_columns(n)), DType::f32);
    m.sums = block.take(size(kern::int8_columns(n)), DType::i32);
  }
  return m;
}

Tensor tensor_at(const TensorAt& at, const Section& s) {
  return s.count > 0 ? at(s.begin, {s.count}, s.type) : Tensor();
}

ops::Weight weight_at(const TensorAt& at, const MatrixSections& m) {
  ops::Weight w;
  w.shape = {m.out, m.in};
  if (m.transposed.count > 0) w.transposed = tensor_at(at, m.transposed).reshape({m.in, m.out});
  w.packed = tensor_at(at, m.packed);
  w.compact = {tensor_at(at, m.tiles), tensor_at(at, m.tables), tensor_at(at, m.rest)};
  if (m.bits == 0 && m.format == kern::BlockFormat::none) return w;
  w.quantized = {w.shape,
                 m.bits,
                 m.format,
                 tensor_at(at, m.values),
                 tensor_at(at, m.multipliers),
                 tensor_at(at, m.scales),
                 tensor_at(at, m.sums)};
  return w;
}

// Rows [begin, end) of a packed matrix; both are multiples of a panel.
ops::Weight part_of(const ops::Weight& all, std::int64_t begin, std::int64_t end) {
  const auto b = as_size(begin), n = as_size(end - begin), k = as_size(all.in());
  const auto part = [](const Tensor& t, std::size_t from, std::size_t count) {
    return t ? t.rows(size(from), size(from + count)) : Tensor();
  };
  const ops::QuantizedMatrix& q = all.quantized;
  ops::Weight w;
  w.shape = {end - begin, all.in()};
  w.packed = part(all.packed, kern::packed_right_values(k, b), kern::packed_right_values(k, n));
  const std::size_t first = kern::compact_tiles(k, b), tiles = kern::compact_tiles(k, n);
  w.compact = {part(all.compact.tiles, first * kern::compact_tile_bytes, tiles * kern::compact_tile_bytes),
               part(all.compact.tables, first * kern::compact_table_bytes, tiles * kern::compact_table_bytes),
               part(all.compact.rest, first * kern::compact_rest_bytes, tiles * kern::compact_rest_bytes)};
  if (q.format != kern::BlockFormat::none) {
    const std::size_t row = kern::block_row_bytes(k, q.format);
    w.quantized = {.shape = w.shape, .format = q.format, .values = part(q.values, b * row, n * row)};
    return w;
  }
  w.quantized = {w.shape,
                 q.bits,
                 q.format,
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
    return p->shape[0] % panel == 0 && p->shape[1] == s.weights[0]->shape[1] && p->hidden_matrix && !p->lora &&
           served_blocks(*p, precision) == served_blocks(*s.weights[0], precision);
  };
  return std::all_of(s.weights.begin(), s.weights.end(), fits_below) &&
         std::find(s.biases.begin(), s.biases.end(), nullptr) == s.biases.end();
}

// Places the matrix of a stack: the forms of its weights are parts of it. @return Stack::from
std::vector<Stack::Part> place_stack(const ServingLayout::StackSections& sections, const Stack& s, const TensorAt& at,
                                     ServingMatrices& matrices) {
  const ops::Weight all = weight_at(at, sections.matrix);
  const Tensor bias = tensor_at(at, sections.bias);
  const std::int64_t out = sections.matrix.out;
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
void pack(const kern::Kernels& kernels, ops::Weight& w, const kern::PackQuantized& rows,
          std::span<const float> scales) {
  ops::QuantizedMatrix& q = w.quantized;
  kern::PackQuantized all = rows;
  all.n = as_size(w.shape[0]), all.k = as_size(w.shape[1]), all.bits = q.bits;
  all.values = q.values.data<std::uint8_t>();
  all.multipliers = q.multipliers ? q.multipliers.data<std::uint8_t>() : nullptr;
  all.sums = q.sums.data<std::int32_t>();
  kernels.pack_quantized(all);
  host_write<float>(q.scales.rows(0, w.shape[0]), scales);
}

// Fills the forms for which memory exists with a matrix's values.
void fill_matrix(const kern::Kernels& kernels, ops::Weight& w, std::span<const float> values) {
  const auto n = as_size(w.shape[0]), k = as_size(w.shape[1]);
  if (w.transposed) kernels.transpose(values.data(), w.transposed.data<float>(), n, k);
  if (w.packed)
    kernels.pack_right({.b = values.data(),
                        .stride = k,
                        .k = k,
                        .n = n,
                        .transposed = true,
                        .packed = w.packed.data<std::uint16_t>()});
  if (w.compact)
    kernels.pack_compact({.b = values.data(),
                          .stride = k,
                          .k = k,
                          .n = n,
                          .tiles = w.compact.tiles.data<std::uint8_t>(),
                          .tables = w.compact.tables.data<std::uint8_t>(),
                          .rest = w.compact.rest.data<std::uint8_t>()});
  if (!w.quantized) return;
  std::vector<float> scales(n);
  if (w.quantized.bits == 8) {
    const std::size_t row = kern::int8_depth(k);
    std::vector<std::int8_t> rows(n * row);
    kernels.quantize_rows(values.data(), k, n, k, rows.data(), scales.data());
    pack(kernels, w, {.rows = reinterpret_cast<const std::uint8_t*>(rows.data()), .row_bytes = row}, scales);
  } else {
    const std::size_t row = (k + 1) / 2;
    std::vector<std::uint8_t> rows(n * row), multipliers(n * ((k + kern::int4_group - 1) / kern::int4_group));
    kern::quantize_int4(values.data(), n, k, {rows.data(), multipliers.data(), scales.data()});
    pack(kernels, w, {.rows = rows.data(), .row_bytes = row, .row_multipliers = multipliers.data()}, scales);
  }
}

}  // namespace

ServingForm::ServingForm(Precision p) : precision(p), compact(p == Precision::bf16 && kern::best().prefers_compact) {}

double product_bytes(const Parameter& p, ServingForm form) {
  const double rows = static_cast<double>(p.shape[0]), values = static_cast<double>(p.shape.count());
  const int bits = quantized_bits(p, form.precision);
  if (const kern::BlockFormat format = served_blocks(p, form.precision); format != kern::BlockFormat::none)
    return rows * static_cast<double>(kern::block_row_bytes(as_size(p.shape[1]), format));
  if (bits > 0) return values * bits / 8 + rows * sizeof(float) + (bits == 4 ? values / kern::int4_group : 0);
  if (is_kept_in_floats(p, form.precision) || form.precision != Precision::bf16) return values * sizeof(float);
  constexpr double compact_bytes = kern::compact_tile_bytes + kern::compact_table_bytes, tile = kern::tile_values;
  return values * (form.compact ? compact_bytes / tile : sizeof(std::uint16_t));
}

int quantized_bits(const Parameter& p, Precision precision) {
  if (!is_quantized(precision) || p.shape.rank() != 2 || !(p.in_products || p.gathered)) return 0;
  if (served_blocks(p, precision) != kern::BlockFormat::none) return 0;
  return precision == Precision::int4 && p.hidden_matrix ? 4 : 8;
}

kern::BlockFormat served_blocks(const Parameter& p, Precision precision) {
  const bool is_matrix = p.shape.rank() == 2 && (p.in_products || p.gathered);
  return precision == Precision::blocks && is_matrix ? p.stored_blocks : kern::BlockFormat::none;
}

bool is_kept_in_floats(const Parameter& p, Precision precision) {
  if (p.shape.rank() != 2) return true;
  return precision == Precision::fp32 ? !p.in_products || p.gathered : !p.in_products && !p.gathered;
}

ServingLayout lay_out_matrices(const std::deque<Parameter>& list, const std::deque<Stack>& stacks, ServingForm form,
                               std::size_t begin) {
  const Precision precision = form.precision;
  SectionTaker block(begin);
  ServingLayout layout;
  std::unordered_set<const Parameter*> stacked;
  for (const Stack& s : stacks) {
    std::optional<ServingLayout::StackSections>& sections = layout.stacks.emplace_back();
    if (!fits(s, precision)) continue;
    const Parameter& first = *s.weights[0];
    std::int64_t out = 0;
    for (const Parameter* p : s.weights) out += p->shape[0];
    sections.emplace();
    sections->matrix = sections_of(block, out, first, form);
    if (!s.biases.empty()) sections->bias = block.take(out, DType::f32);
    stacked.insert(s.weights.begin(), s.weights.end());
  }
  for (const Parameter& p : list) {
    const bool has_form = p.shape.rank() == 2 && (p.in_products || (p.gathered && precision != Precision::fp32));
    if (has_form && !stacked.contains(&p)) layout.matrices.emplace_back(&p, sections_of(block, p.shape[0], p, form));
  }
  layout.rest = (block.end() + page - 1) / page * page;
  SectionTaker rest(layout.rest);
  const auto place_rest = [&](MatrixSections& m) {
    if (m.rest.count > 0) m.rest = rest.take(m.rest.count, m.rest.type);
  };
  for (auto& stack : layout.stacks)
    if (stack) place_rest(stack->matrix);
  for (auto& [p, sections] : layout.matrices) place_rest(sections);
  layout.end = rest.end() > layout.rest ? rest.end() : block.end();
  return layout;
}

ServingMatrices place_matrices(const ServingLayout& layout, const std::deque<Stack>& stacks, const TensorAt& at) {
  ServingMatrices matrices;
  for (std::size_t i = 0; i < stacks.size(); ++i) {
    std::vector<Stack::Part>& from = matrices.stacks.emplace_back();
    if (layout.stacks[i]) from = place_stack(*layout.stacks[i], stacks[i], at, matrices);
  }
  for (const auto& [p, sections] : layout.matrices) matrices.forms[p] = weight_at(at, sections);
  return matrices;
}

void fill_forms(const kern::Kernels& kernels, Parameter& p, std::span<const float> values, std::int64_t row) {
  check(p.quantized.format == kern::BlockFormat::none, p.name, "is served in blocks, which are not made from floats");
  if (std::ssize(values) == p.shape.count()) return fill_matrix(kernels, p, values);
  const std::int64_t rows = std::ssize(values) / p.shape[1];
  assert(!p.transposed && row % panel == 0 && (rows % panel == 0 || row + rows == p.shape[0]) &&
         "only whole panels are filled");
  ops::Weight part = part_of(p, row, row + rows);
  fill_matrix(kernels, part, values);
}

void fill_forms(const kern::Kernels& kernels, Parameter& p, const QuantizedRows& q) {
  const auto n = as_size(p.shape[0]), k = as_size(p.shape[1]);
  const std::size_t row = q.bits == 8 ? k : (k + 1) / 2;
  check(p.quantized && p.quantized.bits == q.bits, p.name, "cannot be served with {} bits", q.bits);
  check(q.rows.size() == n * row && q.scales.size() == n, p.name, "{} bytes and {} scales for {}", q.rows.size(),
        q.scales.size(), p.shape);
  check(q.bits == 8 || q.multipliers.size() == n * ((k + kern::int4_group - 1) / kern::int4_group), p.name,
        "{} multipliers for {}", q.multipliers.size(), p.shape);
  pack(kernels, p, {.rows = q.rows.data(), .row_bytes = row, .row_multipliers = q.multipliers.data()}, q.scales);
}

void fill_forms(const kern::Kernels& kernels, Parameter& p, const BlockRows& blocks) {
  const auto k = as_size(p.shape[1]);
  check(p.quantized && p.quantized.format == blocks.format, p.name, "is not served in the blocks of its file");
  const std::size_t panel_bytes = as_size(panel) * kern::block_row_bytes(k, blocks.format);
  std::uint8_t* to = p.quantized.values.data<std::uint8_t>();
  for (std::int64_t row = 0; row < p.shape[0]; row += panel, to += panel_bytes) {
    kern::PackBlocks pack{.format = blocks.format, .k = k, .panel = to};
    for (std::int64_t i = 0; i < std::min(panel, p.shape[0] - row); ++i)
      pack.rows[as_size(i)] = reinterpret_cast<const std::uint8_t*>(blocks.row(row + i));
    if (!kernels.pack_blocks(pack))
      fail(p.name, fmt::format("a scale in rows {} to {} is not finite", row, row + panel - 1),
           "the file is damaged: download it again");
  }
}

}  // namespace tril::nn
