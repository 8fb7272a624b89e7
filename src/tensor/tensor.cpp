#include "tensor/tensor.h"

#include <cstring>

#include "base/as_size.h"

namespace tril {

std::string_view name_of(DType t) {
  switch (t) {
    case DType::f32:
      return "f32";
    case DType::i32:
      return "i32";
    case DType::bf16:
      return "bf16";
    case DType::u8:
      return "u8";
    case DType::i8:
      return "i8";
  }
  return "?";
}

Shape::Shape(std::span<const std::int64_t> sizes) : rank_(sizes.size()) {
  check(sizes.size() <= max_rank, "Shape", "{} dimensions, at most {} are supported", sizes.size(), max_rank);
  std::int64_t product = 1;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    check(sizes[i] >= 0, "Shape", "size {} of dimension {} is negative", sizes[i], i);
    check(!__builtin_mul_overflow(product, std::max<std::int64_t>(sizes[i], 1), &product) &&
              product < (std::int64_t{1} << 58),
          "Shape", "dimensions up to {} multiply to more than a machine can address", i);
    sizes_[i] = sizes[i];
  }
}

std::int64_t Shape::count() const {
  std::int64_t n = 1;
  for (std::size_t i = 0; i < rank_; ++i) n *= sizes_[i];
  return n;
}

std::string Shape::text() const {
  return fmt::format("[{}]", fmt::join(sizes_.begin(), sizes_.begin() + static_cast<std::ptrdiff_t>(rank_), ", "));
}

namespace {
std::int64_t row_size(const Shape& s) {
  std::int64_t n = 1;
  for (std::size_t i = 1; i < s.rank(); ++i) n *= s[i];
  return n;
}
}  // namespace

Tensor::Tensor(StorageRef storage, Shape shape, DType dtype)
    : storage_(std::move(storage)), shape_(shape), row_stride_(row_size(shape)), dtype_(dtype) {
  check(storage_->bytes >= bytes(), "Tensor", "{} of {} needs {} bytes, the storage has {}", shape, dtype, bytes(),
        storage_->bytes);
}

bool Tensor::is_dense() const {
  return shape_.rank() == 0 || shape_[0] <= 1 || row_stride_ == row_size(shape_);
}

Tensor Tensor::reshape(Shape shape) const {
  check(is_dense() && shape.count() == count(), "reshape", "{} cannot become {}", shape_, shape);
  Tensor t = *this;
  t.shape_ = shape;
  t.row_stride_ = row_size(shape);
  return t;
}

Tensor Tensor::rows(std::int64_t begin, std::int64_t end) const {
  check(shape_.rank() >= 1 && 0 <= begin && begin <= end && end <= shape_[0], "rows", "[{}, {}) of {}", begin, end,
        shape_);
  Tensor t = *this;
  std::array<std::int64_t, Shape::max_rank> sizes{};
  for (std::size_t i = 0; i < shape_.rank(); ++i) sizes[i] = i ? shape_[i] : end - begin;
  t.shape_ = Shape(std::span<const std::int64_t>(sizes.data(), shape_.rank()));
  t.offset_ += begin * row_stride_;
  return t;
}

Tensor Tensor::columns(std::int64_t begin, std::int64_t end) const {
  check(shape_.rank() == 2 && 0 <= begin && begin <= end && end <= shape_[1], "columns", "[{}, {}) of {}", begin, end,
        shape_);
  Tensor t = *this;
  t.shape_ = Shape{shape_[0], end - begin};
  t.offset_ += begin;
  return t;
}

Tensor Tensor::over(const Tensor& base) const {
  check(base.storage_->bytes == storage_->bytes, "over", "a storage of {} bytes for a view into {}",
        base.storage_->bytes, storage_->bytes);
  Tensor t = *this;
  t.storage_ = base.storage_;
  return t;
}

bool Tensor::covers_storage() const {
  return is_dense() && bytes() == storage_->bytes;
}

namespace {

template <class Byte>
Tensor tensor_over(Byte* data, const Shape& shape, DType dtype, std::shared_ptr<const void> keep) {
  const std::size_t bytes = as_size(shape.count()) * size_of(dtype);
  return Tensor(StorageRef(foreign_storage(data, bytes, std::move(keep))), shape, dtype);
}

}  // namespace

Tensor foreign_tensor(std::byte* data, Shape shape, DType dtype, std::shared_ptr<const void> keep) {
  return tensor_over(data, shape, dtype, std::move(keep));
}

Tensor foreign_tensor(const std::byte* data, Shape shape, DType dtype, std::shared_ptr<const void> keep) {
  return tensor_over(data, shape, dtype, std::move(keep));
}

void check_shape(const Tensor& x, const Shape& expected, std::string_view name) {
  check(x.shape() == expected, name, "expected {}, got {}", expected, x.shape());
}

void check_dense(const Tensor& x, DType dtype, std::string_view name) {
  check(static_cast<bool>(x), name, "expected a tensor, got none");
  check(x.dtype() == dtype, name, "expected {}, got {}", dtype, x.dtype());
  check(x.is_dense(), name, "expected a dense tensor, got rows of {} that lie {} apart", x.shape(), x.row_stride());
}

template <class T>
std::vector<T> host_copy(const Tensor& x) {
  std::vector<T> values(as_size(x.count()));
  if (values.empty()) return values;
  const T* from = x.data<T>();
  if (x.is_dense()) {
    std::memcpy(values.data(), from, values.size() * sizeof(T));
  } else {
    const std::size_t row = values.size() / as_size(x.size(0));
    for (std::int64_t i = 0; i < x.size(0); ++i)
      std::memcpy(values.data() + as_size(i) * row, from + i * x.row_stride(), row * sizeof(T));
  }
  return values;
}

template <class T>
void host_write(Tensor x, std::span<const T> values) {
  check_dense(x, dtype_of<T>, "host_write");
  check(values.size() == as_size(x.count()), "host_write", "{} values for {}", values.size(), x.shape());
  if (!values.empty()) std::memcpy(x.data<T>(), values.data(), values.size_bytes());
}

template std::vector<float> host_copy<float>(const Tensor&);
template std::vector<std::int32_t> host_copy<std::int32_t>(const Tensor&);
template std::vector<std::uint8_t> host_copy<std::uint8_t>(const Tensor&);
template std::vector<std::int8_t> host_copy<std::int8_t>(const Tensor&);
template void host_write<float>(Tensor, std::span<const float>);
template void host_write<std::int32_t>(Tensor, std::span<const std::int32_t>);
template void host_write<std::uint8_t>(Tensor, std::span<const std::uint8_t>);
template void host_write<std::int8_t>(Tensor, std::span<const std::int8_t>);

}  // namespace tril
