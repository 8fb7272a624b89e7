#include "decode/batches/prompt_lookup.h"

#include <algorithm>
#include <optional>

#include "base/as_size.h"
#include "base/element.h"

namespace tril::search {
namespace {

// The position after the last occurrence of `ngram` in `text`; 0: there is none.
std::ptrdiff_t after_last(std::span<const std::int32_t> text, std::span<const std::int32_t> ngram) {
  const auto at = std::find_end(text.begin(), text.end(), ngram.begin(), ngram.end());
  return at == text.end() ? 0 : at - text.begin() + std::ssize(ngram);
}

// The number of tokens, up to `most`, in which the ends of two texts agree.
std::int64_t common_end(std::span<const std::int32_t> a, std::span<const std::int32_t> b, std::int64_t most) {
  std::int64_t n = 0;
  while (n < std::min({most, std::ssize(a), std::ssize(b)}) &&
         element(a, std::ssize(a) - 1 - n) == element(b, std::ssize(b) - 1 - n))
    ++n;
  return n;
}

// The position in a prediction that continues what has been generated; nothing if no place agrees with its end.
std::optional<std::ptrdiff_t> place_in(std::span<const std::int32_t> prediction,
                                       std::span<const std::int32_t> generated) {
  constexpr std::int64_t least = 2, most = 32;
  std::int64_t best = generated.size() <= 1 ? 0 : least - 1;
  std::optional<std::ptrdiff_t> place;
  for (std::ptrdiff_t at = 1; at < std::ssize(prediction) && best < most; ++at) {
    const std::int64_t agreed = common_end(prediction.first(as_size(at)), generated, most);
    if (agreed > best) best = agreed, place = at;
  }
  return place;
}

// At most `most` tokens from position `at`, up to the first that ends a text: nothing could be accepted after it.
std::span<const std::int32_t> proposal(std::span<const std::int32_t> text, std::ptrdiff_t at, std::int32_t most,
                                       std::span<const std::int32_t> ends) {
  const auto after = text.subspan(as_size(at), std::min(text.size() - as_size(at), as_size(most)));
  const auto end = std::find_first_of(after.begin(), after.end(), ends.begin(), ends.end());
  return after.first(as_size(end - after.begin()));
}

}  // namespace

void Lookup::add(std::span<const std::int32_t> sentences, std::span<const std::vector<std::int32_t>> sources) {
  if (!reads_sources_) return;
  for (std::size_t i = 0; i < sources.size(); ++i) sources_[sentences[i]] = sources[i];
}

void Lookup::propose(Context&, const Drafts& drafts, std::vector<std::vector<std::int32_t>>& proposals) {
  proposals.assign(drafts.rows.size(), {});
  for (std::size_t r = 0; r < drafts.rows.size(); ++r) {
    const DraftRow& row = drafts.rows[r];
    const std::vector<std::int32_t>& prediction = row.request->prediction;
    if (const auto at = place_in(prediction, row.tokens.subspan(1 + row.request->prefix.size()))) {
      const auto found = proposal(prediction, *at, row.most, row.plan->eos_ids);
      proposals[r].assign(found.begin(), found.end());
    }
    const auto own = sources_.find(row.sentence);
    const std::span<const std::int32_t> source =
        own == sources_.end() ? std::span<const std::int32_t>{} : std::span<const std::int32_t>(own->second);
    const std::span<const std::int32_t> before =
        row.tokens.first(row.tokens.size() - 1);  // the n-gram itself does not count
    const std::int64_t longest = std::min<std::int64_t>(ngram_, std::ssize(row.tokens));
    for (std::int64_t n = longest; n > 0 && proposals[r].empty() && row.most > 0; --n) {
      const std::span<const std::int32_t> ngram = row.tokens.last(as_size(n));
      for (const auto& [searched, text] : {std::pair(before, row.tokens), std::pair(source, source)}) {
        const std::ptrdiff_t at = after_last(searched, ngram);
        if (at == 0 || !proposals[r].empty()) continue;
        const auto found = proposal(text, at, row.most, row.plan->eos_ids);
        proposals[r].assign(found.begin(), found.end());
      }
    }
  }
}

}  // namespace tril::search
