#include "decode/batches/prompt_lookup.h"

#include <algorithm>

namespace tril::search {
namespace {

// Where `ngram` last came in `text`: the position after it, or 0.
std::size_t behind_last(std::span<const std::int32_t> text, std::span<const std::int32_t> ngram) {
  const auto at = std::find_end(text.begin(), text.end(), ngram.begin(), ngram.end());
  return at == text.end() ? 0 : static_cast<std::size_t>(at - text.begin()) + ngram.size();
}

}  // namespace

void Lookup::propose(Context&, const Drafts& rows, std::vector<std::vector<std::int32_t>>& proposals) {
  proposals.assign(rows.tokens.size(), {});
  for (std::size_t r = 0; r < rows.tokens.size(); ++r) {
    const std::span<const std::int32_t> text = rows.tokens[r];
    const std::span<const std::int32_t> source =
        sources_.empty() ? std::span<const std::int32_t>{} : sources_[static_cast<std::size_t>(rows.sentences[r])];
    const std::size_t longest = std::min(static_cast<std::size_t>(ngram_), text.size());
    for (std::size_t n = longest; n > 0 && proposals[r].empty() && rows.most[r] > 0; --n) {
      const std::span<const std::int32_t> ngram = text.last(n);
      for (const std::span<const std::int32_t> in : {text, source}) {
        const std::size_t own = in.data() == text.data() ? 1 : 0;  // the n-gram itself is no find
        const std::size_t at = behind_last(in.first(in.size() - own), ngram);
        if (at == 0 || at == in.size() || !proposals[r].empty()) continue;
        const std::size_t count = std::min(in.size() - at, static_cast<std::size_t>(rows.most[r]));
        proposals[r].assign(in.begin() + static_cast<std::ptrdiff_t>(at),
                            in.begin() + static_cast<std::ptrdiff_t>(at + count));
        proposals[r].erase(
            std::find_first_of(proposals[r].begin(), proposals[r].end(), rows.ends.begin(), rows.ends.end()),
            proposals[r].end());
      }
    }
  }
}

}  // namespace tril::search
