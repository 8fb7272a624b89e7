// What one traced pass may cost: it runs in the side worker, one request at a time, on one core.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "serve/api/operations.h"
#include "trace/analyses.h"

namespace tril::serve {

struct TraceBounds {
  std::int64_t tokens = 256;  ///< of the source and of what the decoder reads, together
  std::int64_t new_tokens = 32;
  std::int64_t bytes = std::int64_t{16} << 20;        ///< of the values
  std::int64_t number_bytes = std::int64_t{4} << 20;  ///< of the values as decimal numbers, whose text is longer
  std::int64_t logits_bytes = std::int64_t{64} << 20;
  std::size_t patterns = 256, edits = 32, entry_bytes = 256;
  double operations = most_operations;
};

struct TraceWork {
  std::vector<std::string> edits;
  std::int64_t new_tokens = 0;
  trace::Analyses analyses;
};

/// Refuses what would take a worker's memory or its time. Edits and analyses cost a pass here, because they depend on its points.
/// @param field  whose text it is
/// @throws HttpError (400, 413); Error(usage) for an edit that cannot be read
void check_trace(const TraceBounds& bounds, const model::Model& m, const trace::Input& input, const TraceWork& work,
                 const std::string& field);

}  // namespace tril::serve
