#include "decode/texts/sentence_links.h"

#include <algorithm>

#include "unicode/trim.h"

namespace tril::search {
namespace {

// A token is looked for this many bytes ahead: those before it may belong to tokens that could not be found.
constexpr std::size_t most_skipped = 24;
// Links of a target token, and the least weight of one.
constexpr std::size_t most_links = 3;
constexpr float least_weight = 0.05f;

}  // namespace

std::vector<document::Range> token_ranges(std::string_view text, std::span<const std::int32_t> ids,
                                          const Tokenizer& tokenizer, Side side) {
  std::vector<document::Range> ranges;
  std::size_t at = 0;
  for (const std::int32_t id : ids) {
    const std::string decoded = tokenizer.decode(std::span(&id, 1), side);
    const std::string_view token = trim(decoded);
    const std::size_t begin =
        token.empty() ? std::string_view::npos : text.substr(0, at + most_skipped + token.size()).find(token, at);
    if (begin == std::string_view::npos) {
      ranges.push_back({at, at});
      continue;
    }
    at = begin + token.size();
    ranges.push_back({begin, at});
  }
  return ranges;
}

std::vector<document::Link> sentence_links(const Translation& t, std::string_view source, const Tokenizer& tokenizer) {
  std::vector<document::Link> links;
  if (t.source.empty() || t.attention.size() < t.tokens.size() * t.source.size()) return links;
  const auto from = token_ranges(source, t.source, tokenizer, Side::source),
             to = token_ranges(t.text, t.tokens, tokenizer, Side::target);
  for (std::size_t k = 0; k < to.size(); ++k) {
    if (to[k].empty()) continue;
    const std::span<const float> row = std::span(t.attention).subspan(k * from.size(), from.size());
    std::vector<std::size_t> best;
    for (std::size_t s = 0; s < from.size(); ++s)
      if (!from[s].empty() && row[s] >= least_weight) best.push_back(s);
    const std::size_t count = std::min(most_links, best.size());
    std::partial_sort(best.begin(), best.begin() + static_cast<std::ptrdiff_t>(count), best.end(),
                      [&](std::size_t a, std::size_t b) { return row[a] > row[b]; });
    for (std::size_t i = 0; i < count; ++i) links.push_back({from[best[i]], to[k], row[best[i]]});
  }
  return links;
}

}  // namespace tril::search
