#include "serve/api/operations.h"

#include <fmt/format.h>

#include "serve/http/http_error.h"

namespace tril::serve {

double operations_of(const model::Model& m, std::int64_t tokens) {
  double weights = 0;
  for (const nn::Parameter& p : m.parameters().all()) weights += static_cast<double>(p.shape.count());
  return 2 * weights * static_cast<double>(tokens);
}

void check_operations(double work, double most, std::string_view advice, const std::string& field) {
  if (work > most)
    throw HttpError(413, fmt::format("this takes about {:.1e} operations, but {:.1e} are allowed in a request: give {}",
                                     work, most, advice))
        .of_field(field);
}

}  // namespace tril::serve
