#include "decode/batches/prompt_lookup.h"

#include <algorithm>

namespace tril::search {
namespace {

// The position after the last occurrence of `ngram` in `text`; 0: there is none.
std::ptrdiff_t after_last(std::span<const std::int32_t> text, std::span<const std::int32_t> ngram) {
  const auto at = std::find_end(text.begin(), text.end(), ngram.begin(), ngram.end());
  return at == text.end() ? 0 : at - text.begin() + std::ssize(ngram);
}

}  // namespace

void Lookup::propose(Context&, const Drafts& rows, std::vector<std::vector<std::int32_t>>& proposals) {
  proposals.assign(rows.tokens.size(), {});
  for (std::size_t r = 0; r < rows.tokens.size(); ++r) {
    const std::span<const std::int32_t> text = rows.tokens[r];
    const std::span<const std::int32_t> source =
        sources_.empty() ? std::span<const std::int32_t>{} : sources_[rows.sentences[r]];
    const std::int64_t longest = std::min<std::int64_t>(ngram_, std::ssize(text));
    for (std::int64_t n = longest; n > 0 && proposals[r].empty() && rows.most[r] > 0; --n) {
      const std::span<const std::int32_t> ngram = text.last(n);
      for (const std::span<const std::int32_t> in : {text, source}) {
        const std::size_t own = in.data() == text.data() ? 1 : 0;  // the n-gram itself does not count
        const std::ptrdiff_t at = after_last(in.first(in.size() - own), ngram);
        if (at == 0 || at == std::ssize(in) || !proposals[r].empty()) continue;
        const std::ptrdiff_t count = std::min<std::ptrdiff_t>(std::ssize(in) - at, rows.most[r]);
        proposals[r].assign(in.begin() + at, in.begin() + at + count);
        proposals[r].erase(
            std::find_first_of(proposals[r].begin(), proposals[r].end(), rows.ends.begin(), rows.ends.end()),
            proposals[r].end());
      }
    }
  }
}

}  // namespace tril::search
