#include "tensor/context.h"

#include "base/as_size.h"

namespace tril {

Tensor Context::empty(Shape shape, DType dtype) const {
  const std::size_t bytes = as_size(shape.count()) * size_of(dtype);
  return Tensor(StorageRef(arena_->allocate(bytes)), shape, dtype);
}

Tensor Context::zeros(Shape shape) const {
  Tensor x = empty(shape);
  kernels_->fill(0.0f, x.data<float>(), as_size(x.count()));
  return x;
}

std::string Context::where() const {
  std::string text;
  for (std::string_view name : names_) {
    if (!text.empty()) text += '.';
    text += name;
  }
  return text;
}

}  // namespace tril
