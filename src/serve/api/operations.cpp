#include "serve/api/operations.h"

namespace tril::serve {

double operations_of(const model::Model& m, std::int64_t tokens) {
  double weights = 0;
  for (const nn::Parameter& p : m.parameters().all()) weights += static_cast<double>(p.shape.count());
  return 2 * weights * static_cast<double>(tokens);
}

}  // namespace tril::serve
