// Explicit masks of rectangular batches: [B, 1 or H, Tq, Tk], 1 = may attend. The ragged way needs none; these are for
// whoever brings padded batches or masks of his own, and to look at.
#pragma once

#include <string>
#include <vector>

#include "ops/ops.h"

namespace tril::model {

/// The two conventions in which others write masks.
enum class MaskConvention : std::uint8_t {
  one_may_attend,  ///< 1: the query may see the key (this library's own)
  one_is_blocked,  ///< 1: the query may not
};

/// [1, 1, T, T]: query i sees keys 0..i.
Tensor causal_mask(Context& c, std::int64_t T, MaskConvention convention = MaskConvention::one_may_attend);
/// [B, 1, 1, T]: keys that are not padding.
Tensor padding_mask(Context& c, std::span<const std::int32_t> ids, std::int64_t B, std::int32_t pad_id,
                    MaskConvention convention = MaskConvention::one_may_attend);
/// Both: [B, 1, T, T], query i sees the keys 0..i that are not padding.
Tensor causal_padding_mask(Context& c, std::span<const std::int32_t> ids, std::int64_t B, std::int32_t pad_id);
/// The other convention's mask.
Tensor flip_mask(Context& c, const Tensor& mask);

/// One picture for the first row and head: a line a query, a column a key, '#' where the query sees the key and '.'
/// where not.
std::string mask_picture(const Tensor& mask, MaskConvention convention = MaskConvention::one_may_attend);

}  // namespace tril::model
