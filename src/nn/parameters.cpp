#include "nn/parameters.h"

#include <algorithm>
#include <memory>

#include "base/as_size.h"
#include "base/even_partition.h"
#include "base/hash.h"
#include "base/memory.h"
#include "kern/gemm_bf16.h"
#include "tensor/lasting.h"

namespace tril::nn {
namespace {

constexpr std::int64_t boundary = 16;  // values: one cache line

std::int64_t padded(std::int64_t n) {
  return (n + boundary - 1) / boundary * boundary;
}

// The size of a matrix's copies in bytes; places them in `memory` if there is one.
std::size_t place_copies(Parameter& p, Precision precision, std::byte* memory, const std::shared_ptr<std::byte>& keep) {
  const std::int64_t out = p.shape[0], in = p.shape[1];
  if (precision == Precision::fp32) {
    if (memory) p.transposed = foreign_tensor(memory, {in, out}, DType::f32, keep);
    return as_size(padded(in * out)) * sizeof(float);
  }
  const auto o = as_size(out), i = as_size(in);
  const std::size_t values = kern::packed_right_values(i, o), turned = kern::packed_right_values(o, i);
  constexpr std::size_t size = sizeof(std::uint16_t);
  if (memory) {
    p.packed = foreign_tensor(memory, {static_cast<std::int64_t>(values)}, DType::bf16, keep);
    p.packed_transposed =
        foreign_tensor(memory + values * size, {static_cast<std::int64_t>(turned)}, DType::bf16, keep);
  }
  return (values + turned) * size;
}

bool has_copies(const Parameter& p) {
  return p.in_products && p.shape.rank() == 2;
}

template <class Byte>
TensorAt tensors_in(std::shared_ptr<Byte> memory) {
  return [memory = std::move(memory)](std::size_t begin, const Shape& shape, DType type) {
    return foreign_tensor(memory.get() + begin, shape, type, memory);
  };
}

// The biases of stacks that a serving model stores as one matrix.
void fill_stacked_biases(const kern::Kernels& kernels, const std::deque<Stack>& stacks) {
  for (const Stack& s : stacks) {
    if (s.from.empty()) continue;
    std::int64_t at = 0;
    for (const Parameter* b : s.biases) {
      Tensor part = s.from[0].bias.rows(at, at + b->shape[0]);
      kernels.scale(1.0f, b->value.data<float>(), part.data<float>(), as_size(b->shape[0]));
      at += b->shape[0];
    }
  }
}

}  // namespace

Parameter& Parameters::add(std::string name, Shape shape, Init init) {
  assert(!find(name) && "two weights have the same name");
  assert(!flat_ && "weights must be declared before they are allocated");
  Parameter& p = list_.emplace_back();
  p.name = std::move(name);
  p.shape = shape;
  p.init = init;
  by_name_.emplace(p.name, &p);
  return p;
}

Parameter* Parameters::find(std::string_view name) {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

const Parameter* Parameters::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

std::int64_t Parameters::count() const {
  std::int64_t n = 0;
  for (const Parameter& p : list_) n += p.shape.count();
  return n;
}

std::vector<std::string> Parameters::names() const {
  std::vector<std::string> names;
  for (const Parameter& p : list_) names.push_back(p.name);
  return names;
}

Parameters::ValueLayout Parameters::lay_out_values(std::optional<Precision> serving) const {
  ValueLayout layout;
  for (std::size_t i = 0; i < list_.size(); ++i) {
    if (serving && !is_kept_in_floats(list_[i], *serving)) continue;
    layout.begins.emplace_back(i, layout.end);
    layout.end += as_size(padded(list_[i].shape.count())) * sizeof(float);
  }
  return layout;
}

void Parameters::place_values(const ValueLayout& layout, const TensorAt& at) {
  for (const auto& [i, begin] : layout.begins) list_[i].value = at(begin, list_[i].shape, DType::f32);
  flat_ = at(0, {static_cast<std::int64_t>(layout.end / sizeof(float))}, DType::f32);
}

void Parameters::allocate() {
  const ValueLayout layout = lay_out_values({});
  place_values(layout, tensors_in(lasting_memory(layout.end)));
}

Parameters::ImageLayout Parameters::lay_out_image(ServingForm form) const {
  ImageLayout layout{lay_out_values(form.precision), {}};
  layout.matrices = lay_out_matrices(list_, stacks_, form, layout.values.end);
  return layout;
}

std::size_t Parameters::serving_bytes(ServingForm form) const {
  return lay_out_image(form).matrices.end;
}

std::size_t Parameters::serving_memory(ServingForm form) const {
  const ServingLayout matrices = lay_out_image(form).matrices;
  return std::min(matrices.rest, matrices.end);
}

void Parameters::allocate_serving(ServingForm form) {
  const ImageLayout layout = lay_out_image(form);
  const ServingLayout& m = layout.matrices;
  const std::size_t reserved = m.end > m.rest ? m.end - m.rest : 0;
  const auto memory = lasting_memory(m.end, reserved);
  if (reserved > 0)
    prefer_small_pages(memory.get() + m.rest, reserved);  // pages of it that are never touched take no memory
  place_image(form, layout, tensors_in(memory));
  image_ = {memory.get(), layout.matrices.end};
}

void Parameters::adopt_serving_image(ServingForm form, std::span<const std::byte> image,
                                     std::shared_ptr<const void> keep) {
  const ImageLayout layout = lay_out_image(form);
  check(image.size() == layout.matrices.end, "serving image", "{} bytes, but the model needs {}", image.size(),
        layout.matrices.end);
  place_image(form, layout, tensors_in(std::shared_ptr<const std::byte>(std::move(keep), image.data())));
  image_ = image;
}

void Parameters::place_image(ServingForm form, const ImageLayout& layout, const TensorAt& at) {
  serving_ = form, precision_ = form.precision;
  place_values(layout.values, at);
  const ServingMatrices matrices = place_matrices(layout.matrices, stacks_, at);
  for (Parameter& p : list_) {
    const auto found = matrices.forms.find(&p);
    if (found == matrices.forms.end()) continue;
    p.transposed = found->second.transposed, p.packed = found->second.packed, p.quantized = found->second.quantized;
    p.compact = found->second.compact;
  }
  for (std::size_t i = 0; i < stacks_.size(); ++i) stacks_[i].from = matrices.stacks[i];
}

const Stack* Parameters::stack(std::vector<Parameter*> weights, std::vector<Parameter*> biases) {
  assert(!flat_ && "weights must be declared before they are allocated");
  return &stacks_.emplace_back(Stack{std::move(weights), std::move(biases), {}});
}

void Parameters::set(const kern::Kernels& kernels, Parameter& p, std::span<const float> values) {
  check(values.size() == as_size(p.shape.count()), p.name, "{} values for {}", values.size(), p.shape);
  if (p.value) host_write<float>(p.value, values);
  if (serving_ && p.shape.rank() == 2) fill_forms(kernels, p, values);
}

void Parameters::set_rows(const kern::Kernels& kernels, Parameter& p, std::int64_t row, std::span<const float> values) {
  assert(is_set_in_parts(p));
  fill_forms(kernels, p, values, row);
}

bool Parameters::is_set_in_parts(const Parameter& p) const {
  return serving_ && p.shape.rank() == 2 && !p.value && !p.transposed && p.quantized.format == kern::BlockFormat::none;
}

void Parameters::set(const kern::Kernels& kernels, Parameter& p, const QuantizedRows& rows) {
  fill_forms(kernels, p, rows);
}

void Parameters::set(const kern::Kernels& kernels, Parameter& p, const BlockRows& rows) {
  fill_forms(kernels, p, rows);
}

void Parameters::initialise(std::uint64_t seed, const std::function<void(const Parameter&)>& each) {
  for (Parameter& p : list_) {
    RandomSequence random(seed, hash_of(p.name));  // independent of the modules' order
    std::vector<float> values(as_size(p.shape.count()));
    for (float& v : values) {
      switch (p.init.kind) {
        case Init::Kind::constant:
          v = static_cast<float>(p.init.value);
          break;
        case Init::Kind::normal:
          v = static_cast<float>(p.init.value * random.normal());
          break;
        case Init::Kind::uniform:
          v = static_cast<float>(p.init.value * (2 * random.uniform() - 1));
          break;
      }
    }
    if (p.zero_row >= 0) {
      const std::int64_t row = p.shape.count() / p.shape[0];
      std::fill_n(values.begin() + p.zero_row * row, row, 0.0f);
    }
    host_write<float>(p.value, values);
    if (each) each(p);
  }
}

std::int64_t Parameters::offset_of(const Parameter& wanted) const {
  std::int64_t at = 0;
  for (const Parameter& p : list_) {
    if (&p == &wanted) return at;
    at += padded(p.shape.count());
  }
  assert(false && "the weight belongs to another model");
  return at;
}

Parameters::Window Parameters::trained_window() const {
  std::int64_t at = 0, begin = -1, end = 0;
  for (const Parameter& p : list_) {
    const std::int64_t next = at + padded(p.shape.count());
    if (p.trainable) begin = begin < 0 ? at : begin, end = next;
    at = next;
  }
  return begin < 0 ? Window{} : Window{begin, end - begin};
}

void Parameters::set_precision(Precision precision) {
  if (precision == precision_) return;
  precision_ = precision;
  for (Parameter& p : list_) p.transposed = p.packed = p.packed_transposed = Tensor();
}

void Parameters::make_copies(bool small_pages) {
  bool complete = true;
  std::size_t bytes = 0;
  for (Parameter& p : list_) {
    if (!has_copies(p)) continue;
    complete &= precision_ == Precision::fp32 ? static_cast<bool>(p.transposed) : static_cast<bool>(p.packed);
    bytes += place_copies(p, precision_, nullptr, {});
  }
  if (complete && !small_pages) return;
  const auto memory = lasting_memory(bytes);
  if (small_pages)
    use_small_pages(
        foreign_tensor(memory.get(), {static_cast<std::int64_t>(bytes / sizeof(float))}, DType::f32, memory));
  std::byte* at = memory.get();
  for (Parameter& p : list_)
    if (has_copies(p)) at += place_copies(p, precision_, at, memory);
}

void Parameters::refresh(const kern::Kernels& kernels) {
  if (serving_) return fill_stacked_biases(kernels, stacks_);
  make_copies();
  refresh(kernels, 0, 1);
}

namespace {

void refresh_float(const kern::Kernels& kernels, Parameter& p) {
  kernels.transpose(p.value.data<float>(), p.transposed.data<float>(), as_size(p.shape[0]), as_size(p.shape[1]));
}

// What a worker packs of a matrix: from where to where among all weights, and where the matrix begins.
struct PackedShare {
  std::int64_t begin, end, at;
};

constexpr std::int64_t packed_columns = 32;  // that are packed together

// The columns of one copy that are in a share.
struct PackedColumns {
  std::size_t first, count;
  PackedColumns(const PackedShare& s, std::int64_t size, std::int64_t columns) {
    const std::int64_t panels = (columns + packed_columns - 1) / packed_columns;
    const auto until = [&](std::int64_t end) {
      return as_size(std::min(columns, pieces_before(end, s.at, size, panels) * packed_columns));
    };
    first = until(s.begin), count = until(s.end) - first;
  }
};

void refresh_packed(const kern::Kernels& kernels, Parameter& p, const PackedShare& share) {
  const std::int64_t size = p.shape.count();
  const auto out = as_size(p.shape[0]), in = as_size(p.shape[1]);
  kern::PackRight pack{.b = p.value.data<float>(), .stride = in};
  if (const PackedColumns of(share, size, p.shape[1]); of.count > 0) {
    pack.b += of.first, pack.k = out, pack.n = of.count;
    pack.packed = p.packed_transposed.data<std::uint16_t>() + kern::packed_right_values(out, of.first);
    kernels.pack_right(pack);
  }
  if (const PackedColumns of(share, size, p.shape[0]); of.count > 0) {
    pack.b = p.value.data<float>() + of.first * in;
    pack.k = in, pack.n = of.count, pack.transposed = true;
    pack.packed = p.packed.data<std::uint16_t>() + kern::packed_right_values(in, of.first);
    kernels.pack_right(pack);
  }
}

}  // namespace

void Parameters::refresh(const kern::Kernels& kernels, Parameter& p) {
  Parameter* const one = &p;
  refresh(kernels, {&one, 1}, 0, 1);
}

void Parameters::refresh(const kern::Kernels& kernels, std::int64_t part, std::int64_t parts) {
  std::vector<Parameter*> all;
  for (Parameter& p : list_) all.push_back(&p);
  refresh(kernels, all, part, parts);
}

void Parameters::refresh(const kern::Kernels& kernels, std::span<Parameter* const> weights, std::int64_t part,
                         std::int64_t parts) {
  std::int64_t total = 0;
  for (const Parameter* p : weights) total += p->shape.count();
  PackedShare share{part_begin(total, part, parts), part_begin(total, part + 1, parts), 0};
  EvenPartition turns(total, parts);
  for (Parameter* p : weights) {
    const bool mine = turns.next(p->shape.count()) == part;
    if (has_copies(*p) && precision_ == Precision::bf16)
      refresh_packed(kernels, *p, share);
    else if (has_copies(*p) && mine)
      refresh_float(kernels, *p);
    share.at += p->shape.count();
  }
}

void Parameters::bind_gradients(Grads& grads, Tensor gradients) const {
  const Window window = trained_window();
  check_shape(gradients, {window.count}, "bind_gradients");
  std::int64_t at = -window.begin;
  for (const Parameter& p : list_) {
    const std::int64_t n = p.shape.count();
    if (p.trainable) {
      const auto keep = std::make_shared<Tensor>(gradients);
      grads.bind(p.value,
                 foreign_tensor(reinterpret_cast<std::byte*>(gradients.data<float>() + at), p.shape, DType::f32, keep));
    }
    at += padded(n);
  }
}

void Parameters::watch(Tape& tape) const {
  for (const Parameter& p : list_)
    if (p.trainable) tape.watch(p.value);
}

}  // namespace tril::nn
