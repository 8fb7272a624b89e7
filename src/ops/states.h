// Recurrent states, which replace the earlier tokens of rows.
#pragma once

#include <span>
#include <string_view>

#include "base/as_size.h"
#include "base/rows.h"
#include "tensor/tensor.h"

namespace tril::ops {

/// The float32 states from which an op continues and which it updates. A row without earlier tokens has a state of
/// zeros.
struct States {
  Tensor values = {};  ///< [.., size of a state], may be columns of a wider matrix; none: no states
  std::span<const std::int32_t> slots = {};  ///< by row: the index of its state, each once; -1 only without tokens

  explicit operator bool() const { return static_cast<bool>(values); }
  /// Values [begin, end) of each state.
  States columns(std::int64_t begin, std::int64_t end) const { return {values.columns(begin, end), slots}; }
  /// The state of row r.
  float* of(std::int64_t r) { return values.data<float>() + slots[as_size(r)] * values.row_stride(); }
};

/// @throws Error naming `where` if these are not states of this size for `rows`
void check_states(const States& states, const Rows& rows, std::int64_t size, std::string_view where);

}  // namespace tril::ops
