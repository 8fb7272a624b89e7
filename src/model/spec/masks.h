// Explicit masks of rectangular batches: [B, 1 or H, Tq, Tk], 1 = may attend. Ragged batches need none; these are
// for callers with padded batches or their own masks, and for display.
#pragma once

#include <string>
#include <vector>

#include "ops/ops.h"

namespace tril::model {

/// The two common mask conventions.
enum class MaskConvention : std::uint8_t {
  one_may_attend,  ///< 1: the query sees the key (used in tril)
  one_is_blocked,  ///< 1: the query does not see the key
};

/// [1, 1, T, T]: query i sees keys 0..i.
Tensor causal_mask(Context& c, std::int64_t T, MaskConvention convention = MaskConvention::one_may_attend);
/// [B, 1, 1, T]: all keys except padding.
Tensor padding_mask(Context& c, std::span<const std::int32_t> ids, std::int64_t B, std::int32_t pad_id,
                    MaskConvention convention = MaskConvention::one_may_attend);
/// Both: [B, 1, T, T], query i sees the keys 0..i that are not padding.
Tensor causal_padding_mask(Context& c, std::span<const std::int32_t> ids, std::int64_t B, std::int32_t pad_id);
/// Converts a mask to the other convention.
Tensor flip_mask(Context& c, const Tensor& mask);

/// A picture for the first row and head: a line per query, a column per key, '#' if the query sees the key, else '.'.
std::string mask_picture(const Tensor& mask, MaskConvention convention = MaskConvention::one_may_attend);

}  // namespace tril::model
