// What one watched search may cost: it runs in the side worker, one request at a time, on one core.
#pragma once

#include <cstdint>
#include <string>

#include "serve/api/operations.h"
#include "trace/watched_search.h"

namespace tril::serve {

struct SearchBounds {
  std::int64_t tokens = 256;      ///< of the source and of what the decoder is given, together
  std::int64_t new_tokens = 256;  ///< of the longest output; where the request names none, less is searched
  std::int64_t rows = 64;         ///< hypotheses at a time
  std::size_t nodes = 4096;
  double operations = most_operations;
};

/// The rows of a plan's steps, at most.
std::int64_t rows_of(const search::SearchPlan& plan);

/// Refuses a search that would take a worker's memory or its time.
/// @throws HttpError (400, 413)
void check_search(const SearchBounds& bounds, const model::Model& m, const trace::SearchQuestion& question);

}  // namespace tril::serve
