#include "model_io/contents/read_values.h"

#include "base/as_size.h"
#include "base/error.h"
#include "base/printable.h"
#include "kern/stored_values.h"

namespace tril::model {

void read_values(const WeightView& view, std::span<float> out) {
  if (view.dtype != StoredType::f16) return to_f32(view, out);
  check(std::ssize(out) == view.elements(), printable(view.name), "has {} values, but there is room for {}",
        view.elements(), out.size());
  kern::widen_f16(view.bytes.data(), out.data(), out.size());
}

std::vector<float> read_values(const WeightView& view) {
  std::vector<float> values(as_size(view.elements()));
  read_values(view, values);
  return values;
}

}  // namespace tril::model
