#include "ops/states.h"

#include "ops/sizes.h"

namespace tril::ops {

void check_states(const States& states, const Rows& rows, std::int64_t size, std::string_view where) {
  const auto [count, width] = states.values.dims<2>(where);
  check(width == size, where, "states of {} values, expected {}", width, size);
  check(std::ssize(states.slots) == rows.count(), where, "{} slots for {} rows", states.slots.size(), rows.count());
  for (std::int64_t r = 0; r < rows.count(); ++r) {
    const std::int32_t slot = states.slots[z(r)];
    check(rows.length(r) == 0 || (slot >= 0 && slot < count), where, "row {} has slot {} of {}", r, slot, count);
  }
}

}  // namespace tril::ops
