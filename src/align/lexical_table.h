// How tokens translate one by one: t(target | source), learned from pairs of rows.
//
// By EM as IBM's model 1 [Brown et al. 1993, section 4.1]: every target token is made from one source token of its pair, or
// from none ("NULL"), whichever it may be:
//   p(target row | source row) = product over t of 1/(l + 1) sum over s of t(t | s)
//   E: c(t | s) += t(t | s) / sum over s' of t(t | s')      M: t(t | s) = c(t | s) / sum over t' of c(t' | s)
// or, where pairs have alignments, by counting them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "corpus/batch.h"
#include "tokenizer/files/tokenizer.h"

namespace tril {

struct LexicalTable {
  struct Entry {
    std::int32_t target;
    float probability;
  };
  std::vector<std::vector<Entry>> of_source;  ///< by source id, the likeliest first
  std::vector<float> share;                   ///< of each target id among all target tokens
};

struct LexicalOptions {
  int iterations = 5;       ///< of EM
  std::int64_t best = 100;  ///< entries kept for each source token
  double threshold = 1e-4;  ///< less likely ones are left out
};

/// @param batches  where they have alignments, these are counted
LexicalTable lexical_table(std::span<const Batch> batches, const Tokenizer& tokenizer, const LexicalOptions& options);

/// Lines "target source probability" in pieces, as Marian's lexical tables have them; "target NULL share" first, the most
/// frequent first.
std::string to_text(const LexicalTable& table, const Tokenizer& tokenizer);
/// Reads such a file, plain or gzip. Pieces that the tokenizer lacks are passed over and counted in `unknown`. Without NULL
/// lines all shares are zero.
LexicalTable read_lexical_table(const std::string& file, const Tokenizer& tokenizer, std::int64_t& unknown);

}  // namespace tril
