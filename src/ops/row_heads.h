// Work on rows and heads that do not depend on each other.
#pragma once

#include <cstdint>

#include "base/rows.h"
#include "tensor/context.h"

namespace tril::ops {

/// Calls job(thread, r, h) for each head h of each row r that has tokens; threads divide the calls.
template <class Job>
void for_rows_and_heads(Context& c, const Rows& rows, std::int64_t heads, const Job& job) {
  c.share_out(rows.count() * heads, [&](int thread, std::int64_t first, std::int64_t end) {
    for (std::int64_t i = first; i < end; ++i)
      if (const std::int64_t r = i / heads; rows.length(r) > 0) job(thread, r, i % heads);
  });
}

}  // namespace tril::ops
