// concat_columns: y = [x_1, x_2, ...]          dx_i = its columns of dy
#include "ops/concat_columns.h"

#include "ops/sizes.h"

namespace tril::ops {
namespace {

void copy_columns(const kern::Kernels& kernels, const Tensor& x, Tensor y) {
  kernels.copy_rows(x.data<float>(), z(x.row_stride()), y.data<float>(), z(y.row_stride()), z(x.size(0)), z(x.size(1)));
}

}  // namespace

Tensor concat_columns(Context& c, std::span<const Tensor> parts) {
  check(!parts.empty(), "concat_columns", "expected at least one matrix");
  const std::int64_t N = parts[0].size(0);
  std::int64_t D = 0;
  for (const Tensor& x : parts) {
    check_shape(x, {N, x.size(1)}, "concat_columns: a part");
    D += x.size(1);
  }
  Tensor y = c.empty({N, D});
  const auto time = c.timed("concat_columns", "forward", [&] { return Work{.bytes = 2 * bytes_of(y)}; });
  std::int64_t at = 0;
  for (const Tensor& x : parts) {
    copy_columns(c.kernels(), x, y.columns(at, at + x.size(1)));
    at += x.size(1);
  }
  if (!c.tape()) return y;
  const std::vector<Tensor> saved(parts.begin(), parts.end());
  std::vector<const Tensor*> inputs;
  for (const Tensor& x : saved) inputs.push_back(&x);
  c.tape()->record("concat_columns", inputs, y, [saved](Context& k, const Tensor& dy, Grads& d) {
    k.worked([&] { return Work{.bytes = 2 * bytes_of(dy)}; });
    std::int64_t from = 0;
    for (const Tensor& x : saved) {
      const Tensor dx = k.empty(x.shape());
      copy_columns(k.kernels(), dy.columns(from, from + x.size(1)), dx);
      pass_rows_on(k, dx, d.into(k, x));
      from += x.size(1);
    }
  });
  return y;
}

}  // namespace tril::ops
