// A vocabulary shortlist: the target tokens that may translate a source. Only their logits are computed [Jean et al. 2015,
// section 3.2; Mi et al. 2016]. They are the likeliest translations of each source token in a lexical table, the most frequent
// tokens, and tokens that the search may need (EOS, forced tokens).
//
// The list of a sentence depends only on its source and request, not on its batch.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "align/lexical_table.h"
#include "search/plan.h"

namespace tril::search {

/// Ids, ascending.
using IdList = std::shared_ptr<const std::vector<std::int32_t>>;

struct ShortlistOptions {
  std::int64_t first = 100;  ///< the number of most frequent tokens
  std::int64_t best = 100;   ///< the maximum number of translations of each source token
  double threshold = 0;      ///< the minimum probability of a translation
};

class Shortlist {
 public:
  /// @param table  without frequencies, its lowest ids count as the most frequent tokens
  Shortlist(const LexicalTable& table, const ShortlistOptions& options, const SearchPlan& search);

  /// The target ids for a source, ascending, including the phrases and the forced first token of the request.
  IdList of(std::span<const std::int32_t> source, const Request& request = {}) const;

 private:
  std::vector<std::int32_t> always_;                  ///< ascending
  std::vector<std::vector<std::int32_t>> of_source_;  ///< by source id, ascending
};

}  // namespace tril::search
