// NumPy arrays over memory of C++, without copies.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "tensor/tensor.h"

namespace tril::python {

namespace nb = nanobind;

/// Owns the value for an array.
template <class T>
nb::capsule keep(T value) {
  auto owned = std::make_unique<T>(std::move(value));
  nb::capsule capsule(owned.get(), [](void* p) noexcept { delete static_cast<T*>(p); });
  static_cast<void>(owned.release());
  return capsule;
}

/// An array of float32 that owns the values. Their number is the product of `sizes`.
inline nb::object array_of(std::vector<float> values, std::initializer_list<std::size_t> sizes) {
  float* const data = values.data();  // a move keeps the memory
  const nb::capsule owner = keep(std::move(values));
  return nb::cast(nb::ndarray<nb::numpy, float>(data, sizes, owner));
}

/// The rows of a dense tensor [N, V]. The array keeps its memory.
inline nb::object array_of(Tensor t) {
  float* const data = t.data<float>();
  const auto rows = static_cast<std::size_t>(t.size(0)), columns = static_cast<std::size_t>(t.size(1));
  const nb::capsule owner = keep(std::move(t));
  return nb::cast(nb::ndarray<nb::numpy, float>(data, {rows, columns}, owner));
}

}  // namespace tril::python
