// Attention of the public interface.
#pragma once

#include <tril/alignment.h>

#include <span>
#include <vector>

#include "decode/models/alignment_fields.h"

namespace tril::library {

/// The pairs of an alignment that is "hard" or a threshold; none for "soft", and none without attention.
/// @param attention  [tokens, source tokens]
inline std::vector<v0::AlignmentPoint> pairs_of(const AlignmentOptions& o, std::span<const float> attention,
                                                std::size_t tokens) {
  std::vector<v0::AlignmentPoint> pairs;
  if (o.alignment.empty() || o.alignment == "soft" || attention.empty()) return pairs;
  for (const AlignmentPoint& p : alignment_points(o, attention, tokens)) pairs.push_back({p.source, p.target});
  return pairs;
}

}  // namespace tril::library
