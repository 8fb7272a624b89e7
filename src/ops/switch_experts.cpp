#include "ops/switch_experts.h"

#include <vector>

namespace tril::ops {

Routing route_within_capacity(const Tensor& logits, const Rows& rows, std::int64_t capacity) {
  check(capacity >= 1, "route_within_capacity", "an expert takes {} tokens of a row, expected at least 1", capacity);
  Routing routing = route(logits, 1);
  check(rows.tokens() == routing.tokens, "route_within_capacity", "logits of {} tokens for rows of {}", routing.tokens,
        rows.tokens());
  for (std::vector<std::int32_t>& tokens : routing.choices) {
    std::int64_t row = 0, taken = 0;
    std::erase_if(tokens, [&](std::int32_t token) {
      for (; token >= rows.end(row); ++row) taken = 0;
      return ++taken > capacity;
    });
  }
  return routing;
}

}  // namespace tril::ops
