// Recurrent states of rows, which stand for their earlier tokens.
#pragma once

#include <span>
#include <string_view>

#include "base/rows.h"
#include "tensor/tensor.h"

namespace tril::ops {

/// The states that an op continues from and leaves as they are after its tokens, in float32. A state of zeros is that of
/// a row before its first token.
struct States {
  Tensor values = {};                        ///< [.., size of a state], may be columns of wider ones; none: no states
  std::span<const std::int32_t> slots = {};  ///< by row: the index of its state, each once; -1 only without tokens

  explicit operator bool() const { return static_cast<bool>(values); }
  /// A part of each state.
  States columns(std::int64_t begin, std::int64_t end) const { return {values.columns(begin, end), slots}; }
  /// Row r's.
  float* of(std::int64_t r) { return values.data<float>() + slots[static_cast<std::size_t>(r)] * values.row_stride(); }
};

/// @throws Error naming `where` if these are not states of this size for `rows`
void check_states(const States& states, const Rows& rows, std::int64_t size, std::string_view where);

}  // namespace tril::ops
