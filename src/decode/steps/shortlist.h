// A vocabulary shortlist: the target tokens that a source calls for, so that only their logits need to be worked out
// [Jean et al. 2015, section 3.2; Mi et al. 2016]. Those are the likeliest translations of each of its tokens by a lexical table,
// the most frequent tokens, and what a search may be made to say (ends, forced tokens).
//
// A sentence's list is a function of its source and request alone, whatever shares its batch.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "align/lexical_table.h"
#include "search/plan.h"

namespace tril::search {

struct ShortlistOptions {
  std::int64_t first = 100;  ///< of the most frequent tokens
  std::int64_t best = 100;   ///< translations of each source token
  double threshold = 0;      ///< of at least this probability
};

class Shortlist {
 public:
  /// @param table  where it knows no shares, the first ids are taken for the most frequent
  Shortlist(const LexicalTable& table, const ShortlistOptions& options, const SearchPlan& search);

  /// Target ids for a source, ascending; what the request makes come (phrases, a first token) among them.
  std::vector<std::int32_t> of(std::span<const std::int32_t> source, const Request& request = {}) const;

 private:
  std::vector<std::int32_t> always_;                  ///< ascending
  std::vector<std::vector<std::int32_t>> of_source_;  ///< by source id, ascending
};

}  // namespace tril::search
