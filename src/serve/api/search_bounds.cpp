#include "serve/api/search_bounds.h"

#include <fmt/format.h>

#include "serve/http/http_error.h"

namespace tril::serve {

std::int64_t rows_of(const search::SearchPlan& p) {
  if (p.alternatives) return std::int64_t{p.n_best} * p.beam_size;
  return p.has_beam() ? p.beam_size : p.n_best;
}

void check_search(const SearchBounds& bounds, const model::Model& m, const trace::SearchQuestion& q) {
  const std::int64_t given = std::ssize(q.source) + 1 + std::ssize(q.request.prefix), rows = rows_of(q.plan);
  if (given > bounds.tokens)
    throw field_error("text", fmt::format("has {} tokens, but {} may be searched from", given, bounds.tokens));
  if (q.request.max_length > bounds.new_tokens)
    throw field_error("max_length", fmt::format("{} is above the {} that may be shown as a tree", q.request.max_length,
                                                bounds.new_tokens));
  if (rows > bounds.rows)
    throw field_error("n",
                      fmt::format("a search with {} hypotheses at a time is too large to be shown: {} are allowed; "
                                  "give a smaller n or beam_size",
                                  rows, bounds.rows));
  const std::int64_t read = given + rows * q.request.max_length;
  double work = operations_of(m, read);
  if (q.speculative.on()) work *= 1 + q.speculative.tokens;  // as if no proposal were accepted
  if (q.speculative.draft) work += operations_of(*q.speculative.draft, read);
  check_operations(work, bounds.operations, "a lower max_length, a smaller beam, or a shorter text", "max_length");
}

}  // namespace tril::serve
