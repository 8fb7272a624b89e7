// Tensor: a shape, a type and shared storage. It is a value: a copy shares its memory, and a view is a tensor. Rows
// may have gaps between them (a slice of columns); the values of a row are contiguous.
//
// A const tensor is read-only. So a function takes its inputs as `const Tensor&` and its outputs as `Tensor`.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/as_size.h"
#include "base/error.h"
#include "tensor/storage.h"

namespace tril {

enum class DType : std::uint8_t { f32, i32, u8, i8, bf16 };

constexpr std::size_t size_of(DType t) {
  return t == DType::u8 || t == DType::i8 ? 1 : t == DType::bf16 ? 2 : 4;
}
std::string_view name_of(DType t);

template <class T>
inline constexpr DType dtype_of = DType::f32;
template <>
inline constexpr DType dtype_of<std::int32_t> = DType::i32;
template <>
inline constexpr DType dtype_of<std::uint8_t> = DType::u8;
template <>
inline constexpr DType dtype_of<std::int8_t> = DType::i8;
template <>
inline constexpr DType dtype_of<std::uint16_t> = DType::bf16;

/// Sizes of up to four dimensions, outermost first.
class Shape {
 public:
  static constexpr std::size_t max_rank = 4;
  Shape() = default;
  Shape(std::initializer_list<std::int64_t> sizes) : Shape(std::span(sizes.begin(), sizes.size())) {}
  explicit Shape(std::span<const std::int64_t> sizes);

  std::size_t rank() const { return rank_; }
  std::int64_t operator[](std::size_t i) const {
    assert(i < rank_);
    return sizes_[i];
  }
  std::int64_t count() const;  ///< product of all sizes
  std::string text() const;    ///< "[2, 10, 128]"
  friend bool operator==(const Shape&, const Shape&) = default;

 private:
  std::array<std::int64_t, max_rank> sizes_{};
  std::size_t rank_ = 0;
};

}  // namespace tril

/// Shapes and types are formatted for an error's text, only when the error is thrown.
template <>
struct fmt::formatter<tril::DType> : fmt::formatter<std::string_view> {
  template <class Context>
  auto format(tril::DType t, Context& c) const {
    return fmt::formatter<std::string_view>::format(tril::name_of(t), c);
  }
};
template <>
struct fmt::formatter<tril::Shape> : fmt::formatter<std::string_view> {
  template <class Context>
  auto format(const tril::Shape& s, Context& c) const {
    return fmt::formatter<std::string_view>::format(s.text(), c);
  }
};

namespace tril {

class Tensor {
 public:
  Tensor() = default;  ///< no tensor: false in a condition
  Tensor(StorageRef storage, Shape shape, DType dtype);

  explicit operator bool() const { return static_cast<bool>(storage_); }

  const Shape& shape() const { return shape_; }
  std::int64_t size(std::size_t i) const { return shape_[i]; }
  std::int64_t count() const { return shape_.count(); }
  DType dtype() const { return dtype_; }
  std::size_t bytes() const { return as_size(count()) * size_of(dtype_); }
  /// Elements from one row to the next; a row comprises all dimensions but the first.
  std::int64_t row_stride() const { return row_stride_; }
  bool is_dense() const;

  /// The sizes, to be bound to names: `const auto [N, D] = x.dims<2>("x");`. @throws Error that names x if the
  /// rank differs
  template <std::size_t R>
  std::array<std::int64_t, R> dims(std::string_view name) const {
    check(shape_.rank() == R, name, "expected {} dimensions, got {}", R, shape_);
    std::array<std::int64_t, R> d;
    for (std::size_t i = 0; i < R; ++i) d[i] = shape_[i];
    return d;
  }

  /// The address of the first value, to be passed to a kernel: only kern/ dereferences it. @throws Error if the
  /// values have another type, or if write access is requested to read-only memory
  template <class T>
  const T* data() const {
    check_type(dtype_of<T>);
    return reinterpret_cast<const T*>(storage_->data) + offset_;
  }
  template <class T>
  T* data() {
    check_type(dtype_of<T>);
    check(storage_->writable, "Tensor", "cannot write {} of {} to read-only memory", shape_, dtype_);
    return reinterpret_cast<T*>(storage_->data) + offset_;
  }

  /// The same values in another shape with the same number of elements; dense tensors only.
  Tensor reshape(Shape shape) const;
  /// Rows [begin, end) of the first dimension.
  Tensor rows(std::int64_t begin, std::int64_t end) const;
  /// Columns [begin, end) of a matrix [N, D].
  Tensor columns(std::int64_t begin, std::int64_t end) const;

  /// Identity of the storage: the same for all views of one storage.
  std::uint64_t id() const { return storage_->id; }
  /// This view's shape, strides and offset over another storage of the same size (that of its gradient).
  Tensor over(const Tensor& base) const;
  /// True if this view covers its storage from the first value to the last.
  bool covers_storage() const;
  std::size_t storage_bytes() const { return storage_->bytes; }

 private:
  void check_type(DType asked) const {
    check(asked == dtype_, "Tensor", "expected values of type {}, got {}", asked, dtype_);
  }

  StorageRef storage_;
  Shape shape_;
  std::int64_t offset_ = 0, row_stride_ = 0;
  DType dtype_ = DType::f32;
};

/// A tensor over memory with another owner, kept alive by `keep`; it has its own identity.
Tensor foreign_tensor(std::byte* data, Shape shape, DType dtype, std::shared_ptr<const void> keep);
/// The same over read-only memory, such as a mapped file.
Tensor foreign_tensor(const std::byte* data, Shape shape, DType dtype, std::shared_ptr<const void> keep);

/// Throws Error naming `name` unless x has this shape.
void check_shape(const Tensor& x, const Shape& expected, std::string_view name);
/// Throws Error naming `name` unless x has this type and is dense.
void check_dense(const Tensor& x, DType dtype, std::string_view name);

/// Copies the values to the host, row after row: the only way to read them outside kern/.
template <class T>
std::vector<T> host_copy(const Tensor& x);
/// The reverse: copies values from the host into a dense tensor of the same size.
template <class T>
void host_write(Tensor x, std::span<const T> values);

}  // namespace tril
