#include "train/distributed/whole_weights.h"

namespace tril::train {

void WholeWeightsReducer::refresh(int member) {
  const auto packing = passes_.context(member).timed("weights", "packing", [&] { return packing_work(); });
  parameters_.refresh(kernels_, member, passes_.threads());
}

// Writes each copy, and reads the weights for each.
Work WholeWeightsReducer::packing_work() const {
  double bytes = 0;
  for (const nn::Parameter& p : parameters_.all())
    for (const Tensor& copy : {p.transposed, p.packed, p.packed_transposed})
      if (copy) bytes += static_cast<double>(p.value.bytes() + copy.bytes());
  return {.bytes = bytes / passes_.threads()};
}

void WholeWeightsReducer::run_forward(std::size_t passes, const std::function<void(int member, std::size_t pass)>& work,
                                      const std::function<bool()>& stop) {
  passes_.team().run([&](int member) {
    for (std::size_t pass = 0; pass < passes && !(stop && stop()); ++pass) work(member, pass);
  });
}

}  // namespace tril::train
